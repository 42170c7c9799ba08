#pragma once

#include "Tree.hpp"

// Exact questions about numbers. A number is what it is kept as: an integer of up to 64 bits, or a double, which stands
// for the shortest decimal that reads as that double.
namespace cjson {

/// Whether a number has no fraction, however it is written: `1.0` and `1e20` are integers.
bool is_integer(const json &number);

/// Less than, equal to or greater than 0, as `one` is less than, equal to or greater than `other`.
int compare_numbers(const json &one, const json &other);

/// Whether `number` is a whole multiple of `divisor`, which is greater than 0, both taken as decimals.
bool is_multiple(const json &number, const json &divisor);

}  // namespace cjson
