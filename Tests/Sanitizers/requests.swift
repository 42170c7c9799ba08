// Makes requests that fail. Shows whether FoundationNetworking still leaks with each, which curl.c is for.
import Foundation
import FoundationNetworking

@main
enum Requests {
    static func main() async {
        guard let url = URL(string: "http://127.0.0.1:1/") else { return }
        for _ in 0..<10 { _ = try? await URLSession.shared.data(from: url) }
        FileHandle.standardOutput.write(Data("10 requests\n".utf8))
    }
}
