/// A decimal number of at most 34 digits, for exact sums and products: 0.1 and 0.2 make 0.3.
///
/// A JSON number counts as the decimal that it is written as. Integers of up to 64 bits are kept as they are; a double
/// stands for the shortest decimal that reads as it, as in schemas.
package struct Decimal: Sendable, Comparable {
    /// Whether it is less than 0.
    private let isNegative: Bool
    /// Without zeros at its end, unless it is 0.
    private let digits: UInt128
    /// The power of ten that ``digits`` are multiplied by.
    private let exponent: Int

    /// As many digits as IEEE 754 decimal128 has.
    package static let maximumDigits = 34
    /// 10 to the power of ``maximumDigits``.
    private static let limit = power(of: maximumDigits)

    /// A double keeps each decimal of at most 15 digits.
    private static let exactInDouble = 1e15
    private static let scales = [(4, 1e4), (9, 1e9), (14, 1e14)]

    /// Nil when that has more than ``maximumDigits`` digits.
    private init?(_ isNegative: Bool, _ digits: UInt128, _ exponent: Int) {
        var (digits, exponent) = (digits, digits == 0 ? 0 : exponent)
        // Divisions of 128 bits take long, and nearly all numbers are shorter.
        while digits > UInt64.max, digits % 10 == 0 { (digits, exponent) = (digits / 10, exponent + 1) }
        if var short = UInt64(exactly: digits), short != 0 {
            while short % 10 == 0 { (short, exponent) = (short / 10, exponent + 1) }
            digits = UInt128(short)
        }
        guard digits < Self.limit else { return nil }
        self.isNegative = isNegative && digits != 0
        self.digits = digits
        self.exponent = exponent
    }

    private init() { (isNegative, digits, exponent) = (false, 0, 0) }

    /// The number 0.
    package static let zero = Decimal()

    /// Nil for what is not a number.
    package init?(_ document: JSONDocument) {
        if let int = document.int {
            self.init(int < 0, UInt128(int.magnitude), 0)
            return
        }
        guard document.kind == .integer || document.kind == .double else { return nil }
        // Most prices and shares: no other decimal of at most 15 digits reads as the same double.
        if document.kind == .double, let double = document.double {
            for (places, power) in Self.scales {
                let scaled = (double * power).rounded()
                guard abs(scaled) < Self.exactInDouble else { break }
                guard scaled / power == double else { continue }
                self.init(scaled < 0, UInt128(UInt64(scaled.magnitude)), -places)
                return
            }
        }
        // Such as `-1.25e-07`.
        let parts = document.description.lowercased().split(separator: "e")
        guard let mantissa = parts.first, let power = parts.count > 1 ? Int(parts[1]) : 0 else { return nil }
        let fraction = mantissa.split(separator: ".").dropFirst().first?.utf8.count ?? 0
        guard let digits = UInt128(mantissa.filter { $0 != "." && $0 != "-" }) else { return nil }
        self.init(mantissa.hasPrefix("-"), digits, power - fraction)
    }

    /// The number as JSON; nil when JSON documents here cannot keep all of its digits: integers have at most 64 bits,
    /// and others some 17 digits.
    package var document: JSONDocument? {
        if exponent < 0, exponent >= -22, digits < UInt128(UInt64(Self.exactInDouble)) {
            // Both are exact, so their quotient is the double that is nearest.
            let double = Double(UInt64(digits)) / Double(Self.power(of: -exponent))
            return JSONDocument(isNegative ? -double : double)
        }
        let sign = isNegative ? "-" : ""
        let length = String(digits).count + exponent
        let text =
            exponent >= 0 && length <= 20
            ? "\(sign)\(digits)\(String(repeating: "0", count: exponent))" : "\(sign)\(digits)e\(exponent)"
        guard let document = try? JSONDocument(parsing: text), Decimal(document) == self else { return nil }
        return document
    }

    /// The sum; nil when it has more than ``maximumDigits`` digits.
    package func adding(_ other: Decimal) -> Decimal? {
        if digits == 0 { return other }
        if other.digits == 0 { return self }
        let least = min(exponent, other.exponent)
        // What does not fit 128 bits here has more than 34 digits in the sum: the lowest digit of a number is not 0.
        guard let one = digits(at: least), let two = other.digits(at: least) else { return nil }
        if isNegative == other.isNegative {
            let (sum, overflow) = one.addingReportingOverflow(two)
            return overflow ? nil : Decimal(isNegative, sum, least)
        }
        return one >= two ? Decimal(isNegative, one - two, least) : Decimal(other.isNegative, two - one, least)
    }

    /// The difference; nil when it has more than ``maximumDigits`` digits.
    package func subtracting(_ other: Decimal) -> Decimal? {
        Decimal(!other.isNegative, other.digits, other.exponent).flatMap { adding($0) }
    }

    /// The product; nil when it has more than ``maximumDigits`` digits.
    package func multiplied(by other: Decimal) -> Decimal? {
        var (one, two, exponent) = (digits, other.digits, exponent + other.exponent)
        let (whole, isTooLarge) = digits.multipliedReportingOverflow(by: other.digits)
        if !isTooLarge { return Decimal(isNegative != other.isNegative, whole, exponent) }
        // Twos of one number and fives of the other are zeros at the end of the product. Without them, a product that
        // does not fit 128 bits has more than 34 digits.
        while one != 0, one % 2 == 0, two % 5 == 0 { (one, two, exponent) = (one / 2, two / 5, exponent + 1) }
        while two != 0, two % 2 == 0, one % 5 == 0 { (one, two, exponent) = (one / 5, two / 2, exponent + 1) }
        let (product, overflow) = one.multipliedReportingOverflow(by: two)
        return overflow ? nil : Decimal(isNegative != other.isNegative, product, exponent)
    }

    /// The number with so many places behind the point, a negative number of them for tens and hundreds. What is in the
    /// middle is rounded away from 0.
    ///
    /// - Returns: nil for more places than a number has digits.
    package func rounded(to places: Int) -> Decimal? {
        guard (-Self.maximumDigits...Self.maximumDigits).contains(places) else { return nil }
        // How many digits are dropped.
        let count = -places - exponent
        if count <= 0 { return self }
        guard count <= Self.maximumDigits else { return .zero }
        let unit = Self.power(of: count)
        let (kept, rest) = digits.quotientAndRemainder(dividingBy: unit)
        return Decimal(isNegative, rest >= unit - rest ? kept + 1 : kept, -places)
    }

    package static func < (one: Decimal, other: Decimal) -> Bool {
        guard one.sign == other.sign else { return one.sign < other.sign }
        guard one.sign != 0 else { return false }
        let (less, more) = one.isNegative ? (other, one) : (one, other)
        if less.exponent == more.exponent { return less.digits < more.digits }
        guard less.magnitude == more.magnitude else { return less.magnitude < more.magnitude }
        // Numbers of the same magnitude have at most 34 digits at the smaller exponent, too.
        let least = min(less.exponent, more.exponent)
        return less.digits(at: least) ?? .max < more.digits(at: least) ?? .max
    }

    private var sign: Int { digits == 0 ? 0 : isNegative ? -1 : 1 }

    /// The power of ten above the first digit.
    private var magnitude: Int { String(digits).count + exponent }

    /// The digits as a multiple of a smaller power of ten; nil when that has more than 128 bits.
    private func digits(at least: Int) -> UInt128? {
        let shift = exponent - least
        if shift == 0 { return digits }
        guard shift <= Self.maximumDigits + 4 else { return nil }
        let (shifted, overflow) = digits.multipliedReportingOverflow(by: Self.power(of: shift))
        return overflow ? nil : shifted
    }

    private static func power(of exponent: Int) -> UInt128 { (0..<exponent).reduce(1) { power, _ in power * 10 } }
}
