#include "Tree.hpp"

#include <cfloat>
#include <charconv>
#include <cmath>

namespace cjson {

namespace {

// Every integer and every double that a value may hold is a long double, too.
static_assert(LDBL_MANT_DIG >= 64);

long double exactly(const json &number) {
    if (const int64_t *integer = number.as<int64_t>()) return *integer;
    if (const uint64_t *whole = number.as<uint64_t>()) return *whole;
    return number.number();
}

/// The magnitude of a number: `digits` times ten to the power of `exponent`.
struct Decimal {
    uint64_t digits;
    int exponent;
};

Decimal decimal(const json &number) {
    if (const int64_t *integer = number.as<int64_t>()) {
        const uint64_t bits = static_cast<uint64_t>(*integer);
        return {*integer < 0 ? 0 - bits : bits, 0};
    }
    if (const uint64_t *whole = number.as<uint64_t>()) {
        return {*whole, 0};
    }
    // Such as `1.25e-07`.
    char buffer[32];
    char *end = std::to_chars(
        buffer, buffer + sizeof buffer, std::fabs(number.number()), std::chars_format::scientific).ptr;
    Decimal result{0, 0};
    int fraction = 0;
    const char *place = buffer;
    for (; *place != 'e'; ++place) {
        if (*place == '.') {
            fraction = 1;
            continue;
        }
        result.digits = result.digits * 10 + static_cast<uint64_t>(*place - '0');
        result.exponent -= fraction;
    }
    int power = 0;
    std::from_chars(place + (place[1] == '+' ? 2 : 1), end, power);
    result.exponent += power;
    return result;
}

}  // namespace

bool is_integer(const json &number) {
    const double *real = number.as<double>();
    return real == nullptr ? number.is_integer() : std::trunc(*real) == *real;
}

int compare_numbers(const json &one, const json &other) {
    const long double left = exactly(one);
    const long double right = exactly(other);
    return (left > right) - (left < right);
}

bool is_multiple(const json &number, const json &divisor) {
    const Decimal dividend = decimal(number);
    const Decimal unit = decimal(divisor);
    __extension__ using Wide = unsigned __int128;
    Wide remainder = dividend.digits;
    Wide modulus = unit.digits;
    int shift = dividend.exponent - unit.exponent;
    for (; shift < 0 && modulus <= remainder; ++shift) {
        modulus *= 10;
    }
    if (shift < 0) {
        // The divisor is larger by powers of ten: only 0 is a multiple.
        return remainder == 0;
    }
    remainder %= modulus;
    for (; shift > 0 && remainder != 0; --shift) {
        remainder = remainder * 10 % modulus;
    }
    return remainder == 0;
}

}  // namespace cjson
