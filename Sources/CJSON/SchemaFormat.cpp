#include "CompiledSchema.hpp"

#include <arpa/inet.h>

#include <charconv>

namespace cjson {

namespace {

bool matches(const Pattern &pattern, std::string_view text) {
    Work work;
    return pattern.search(text, work) == Match::found;
}

/// The number that some digits of a text make.
int number(const std::string &text, size_t start, size_t count = 2) {
    int result = 0;
    std::from_chars(text.data() + start, text.data() + start + count, result);
    return result;
}

// RFC 3339, section 5.6.

bool is_date(const std::string &text) {
    static const Pattern form("^\\d{4}-\\d\\d-\\d\\d$");
    if (!matches(form, text)) {
        return false;
    }
    const int year = number(text, 0, 4);
    const int month = number(text, 5);
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const bool is_short = month == 4 || month == 6 || month == 9 || month == 11;
    const int days = month == 2 ? (is_leap ? 29 : 28) : is_short ? 30 : 31;
    return month >= 1 && month <= 12 && number(text, 8) >= 1 && number(text, 8) <= days;
}

bool is_time(const std::string &text) {
    const std::string minutes = "(?:[01]\\d|2[0-3]):[0-5]\\d";
    static const Pattern form("^" + minutes + ":(?:[0-5]\\d|60)(?:\\.\\d+)?(?:[Zz]|[+-]" + minutes + ")$");
    if (!matches(form, text)) {
        return false;
    }
    const size_t zone = text.find_first_of("Zz+-");
    const int offset = zone + 1 == text.size() ? 0 : number(text, zone + 1) * 60 + number(text, zone + 4);
    constexpr int day = 24 * 60;
    const int minute = number(text, 0) * 60 + number(text, 3) + (text[zone] == '+' ? day - offset : offset);
    // A leap second is the last one of a day in UTC.
    return number(text, 6) < 60 || minute % day == day - 1;
}

bool is_date_time(const std::string &text) {
    constexpr size_t date_length = 10;
    return text.size() > date_length && (text[date_length] == 'T' || text[date_length] == 't')
        && is_date(text.substr(0, date_length)) && is_time(text.substr(date_length + 1));
}

/// The C library reads up to a NUL byte.
bool is_address(int family, const std::string &text) {
    unsigned char address[sizeof(in6_addr)];
    return text.find('\0') == std::string::npos && inet_pton(family, text.c_str(), address) == 1;
}

bool is_ipv4(const std::string &text) { return is_address(AF_INET, text); }
bool is_ipv6(const std::string &text) { return is_address(AF_INET6, text); }

bool is_uuid(const std::string &text) {
    static const Pattern pattern("^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$");
    return matches(pattern, text);
}

/// A mailbox of RFC 5321, section 4.1.2.
bool is_email(const std::string &text) {
    static const Pattern local(
        R"(^(?:[\w!#$%&'*+/=?^`{|}~-]++(?:\.[\w!#$%&'*+/=?^`{|}~-]++)*+|"(?:[ !#-\[\]-~]|\\[ -~])*+")$)");
    static const Pattern domain("^[0-9A-Za-z]++(?:-++[0-9A-Za-z]++)*+(?:\\.[0-9A-Za-z]++(?:-++[0-9A-Za-z]++)*+)*+$");
    const size_t at = text.rfind('@');
    if (at == std::string::npos || !matches(local, std::string_view(text).substr(0, at))) {
        return false;
    }
    const std::string host = text.substr(at + 1);
    if (host.empty() || host.front() != '[' || host.back() != ']') {
        return matches(domain, host);
    }
    const std::string address = host.substr(1, host.size() - 2);
    return address.compare(0, 5, "IPv6:") == 0 ? is_ipv6(address.substr(5)) : is_ipv4(address);
}

/// A URI of RFC 3986, which has a scheme.
bool is_uri(const std::string &text) {
    static const Pattern pattern([] {
        const std::string name = "-0-9A-Za-z._~!$&'()*+,;=";
        const auto some = [](const std::string &characters) {
            return "(?:[" + characters + "]++|%[0-9A-Fa-f]{2})*+";
        };
        const std::string segment = some(name + ":@");
        const std::string address = "\\[(?:[0-9A-Fa-f:.]++|[Vv][0-9A-Fa-f]++\\.[" + name + ":]++)\\]";
        const std::string host = "(?:" + address + "|" + some(name) + ")";
        const std::string authority = "(?:" + some(name + ":") + "@)?" + host + "(?::[0-9]*+)?";
        return "^[A-Za-z][0-9A-Za-z+.-]*+:(?://" + authority + "(?:/" + segment + ")*+|(?!//)" + some(name + ":@/")
            + ")(?:\\?" + some(name + ":@/?") + ")?(?:#" + some(name + ":@/?") + ")?$";
    }());
    if (!matches(pattern, text)) {
        return false;
    }
    // Brackets stand round an address only, of IPv6 or of a later version.
    const size_t start = text.find('[');
    return start == std::string::npos || (text[start + 1] | 0x20) == 'v'
        || is_ipv6(text.substr(start + 1, text.find(']') - start - 1));
}

constexpr SchemaFormat formats[] = {
    {"date-time", "a date and time with an offset, such as 2026-01-31T23:59:59Z", is_date_time},
    {"date", "a date, such as 2026-01-31", is_date},
    {"time", "a time with an offset, such as 23:59:59Z", is_time},
    {"email", "an email address", is_email},
    {"uri", "a URI with a scheme", is_uri},
    {"uuid", "a UUID", is_uuid},
    {"ipv4", "an IPv4 address", is_ipv4},
    {"ipv6", "an IPv6 address", is_ipv6},
};

}  // namespace

const SchemaFormat *SchemaFormat::named(std::string_view name) {
    for (const SchemaFormat &format : formats) {
        if (format.name == name) {
            return &format;
        }
    }
    return nullptr;
}

std::string SchemaFormat::names() {
    std::string list;
    for (const SchemaFormat &format : formats) {
        list.append(list.empty() ? "" : ", ").append(format.name);
    }
    return list;
}

}  // namespace cjson
