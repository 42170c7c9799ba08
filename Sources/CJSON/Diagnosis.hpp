#pragma once

#include "CJSON.h"

#include <string_view>

namespace cjson {

/// Why a text that could not be read is no JSON, and where. Throws when memory runs out.
cjson_parse_failure diagnose(std::string_view text, bool comments);

}  // namespace cjson
