#pragma once

#include <stdexcept>

// RapidJSON as this target uses it: its SAX reader and its writer, in a namespace of ours, so that a program may have
// another version of it elsewhere. What it asserts can only be a mistake here, and must not end the process.
#define RAPIDJSON_NAMESPACE cjson::rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace cjson { namespace rapidjson {
#define RAPIDJSON_NAMESPACE_END } }
#define RAPIDJSON_ASSERT(condition) ((condition) ? (void)0 : throw std::logic_error("RapidJSON"))

#include <rapidjson/reader.h>
#include <rapidjson/writer.h>
