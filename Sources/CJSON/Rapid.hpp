#pragma once

#include <stdexcept>

// RapidJSON as this target uses it: its SAX reader and its writer, in a namespace of its own, so that a program may
// have another version elsewhere. A failed assertion throws instead of ending the process.
#define RAPIDJSON_NAMESPACE cjson::rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace cjson { namespace rapidjson {
#define RAPIDJSON_NAMESPACE_END } }
#define RAPIDJSON_ASSERT(condition) ((condition) ? (void)0 : throw std::logic_error("RapidJSON"))

#include <rapidjson/reader.h>
#include <rapidjson/writer.h>
