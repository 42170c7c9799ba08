import FlowTools
import JSONDocument
import Navigation
import Testing

@Suite("Graphs")
struct FlowGraphTests {
    private func graph(_ document: JSONDocument, with others: JSONDocument...) throws -> FlowGraph {
        let catalog = try Traveller.catalog([document] + others)
        return FlowGraph(try #require(catalog.flow(document[member: "id"]?.string ?? "")))
    }

    /// All that a drawing can have in it, and the names in it not of the tame kind.
    static let oddities: JSONDocument = [
        "id": "odd", "version": 3, "initial": "a",
        "guards": ["_so.": ["compare": ["/limits/name", "!=", ["value": "\"a\" <&> \\"]]]],
        "on": [
            "x": [
                "target": "end",
                "guard": [
                    "any": [
                        ["compare": ["/limits/name", "==", ["value": "\"a\" <&> \\"]]],
                        [
                            "not": [
                                "all": [
                                    ["service": "profile", "schema": ["required": ["name", "email"]]],
                                    ["service": "quote", "schema": ["required": ["#1;", "a|b"]]],
                                ]
                            ]
                        ],
                    ]
                ],
            ]
        ],
        "states": [
            "a": [
                "title": "1. *He* said \"hi\" \\ & <b>#1;</b> %%{x}%% `y` | z\n\u{7}end", "back": false,
                "requires": ["_so."], "timeout": ["after": "90s", "target": "b"],
                "on": [
                    "say-no": ["target": "b", "nav": "replace", "history": "invalidate"], "stay": .emptyObject,
                    "list": [["target": "b", "guard": "_so."], ["nav": "pop"]],
                ],
            ],
            "b": [
                "back": ["target": "a"], "timeout": ["after": "2h"],
                "on": ["go": ["target": "which"], "leave": ["nav": "dismiss", "history": "discard"]],
            ],
            "which": [
                "type": "choice",
                "branches": [["guard": "_so.", "target": "child", "nav": "present"], ["target": "end"]],
            ],
            "child": [
                "type": "flow", "flow": "edit-quote", "version": 1, "input": ["author": "x"],
                "on": ["done": ["target": "end"], "done.cancelled": .emptyObject],
            ],
            "end": ["type": "final", "outcome": "over"],
        ],
    ]

    @Test("timers say when they come, those of the flow on any screen")
    func timers() throws {
        let flow = Flows.make(
            [
                "a": [
                    "timers": [
                        ["after": "72h", "every": "24h", "times": 3, "actions": [Flows.note("r")]],
                        ["at": ["$time": ["from": "/limits/departs_at", "plus": "-P1D"]], "target": "b"],
                    ], "on": ["next": ["target": "b"]],
                ], "b": ["on": ["next": ["target": "a"]]],
            ], adding: ["timers": [["after": "30d", "target": "b", "nav": "set_root"]]])
        let text = try graph(flow).mermaid
        #expect(text.contains("a<br/>◷ after 3d, every 24h, 3 times ✎ – stays"))
        #expect(text.contains("next<br/>◷ at /limits/departs_at plus #34;-P1D#34;"))
        #expect(text.contains(#"any -.->|"◷ after 30d set_root"| s1"#), "\(text)")
    }

    @Test("branches have numbers, params their names, and recorded tasks theirs; an outline has neither")
    func details() throws {
        let mail: JSONDocument = ["task": "send-mail", "with": .emptyObject]
        let flow = Flows.make([
            "a": [
                "entry": [mail],
                "on": [
                    "go": [
                        [
                            "guard": ["has": "/limits/x"], "target": "c",
                            "params": ["id": ["$from": "/event/id"], "n": 1],
                        ],
                        ["target": "b", "actions": [Flows.note("r"), mail, mail]],
                    ],
                    "one": ["target": "b", "params": ["$from": "/event"]],
                ],
                "timers": [["after": "1h", "actions": [mail]], ["after": "2h", "target": "b"]],
            ],
            "b": ["on": ["next": ["target": "a", "nav": "pop_to"]]],
            "c": [
                "type": "choice",
                "branches": [["guard": ["has": "/limits/y"], "target": "b"], ["target": "a", "actions": [mail]]],
            ],
        ])
        let text = try graph(flow).mermaid
        #expect(text.contains("a<br/>⚙ send-mail on entry<br/>◷ after 1h ⚙ send-mail – stays"), "\(text)")
        #expect(text.contains(##"-->|"#49;. go [/limits/x is there] (id, n)"| s2"##), "\(text)")
        #expect(text.contains(##"|"#50;. go ✎ ⚙ send-mail<br/>one (…)<br/>◷ after 2h"| s1"##), "\(text)")
        #expect(text.contains(##"s2 -->|"#49;. [/limits/y is there]"| s1"##), "\(text)")
        #expect(text.contains(##"s2 -->|"#50;. else ⚙ send-mail"| s0"##), "\(text)")
        let catalog = try Traveller.catalog([flow])
        let outline = FlowGraph(try #require(catalog.flow("test")), isOutline: true).graphviz
        #expect(!outline.contains("send-mail") && !outline.contains("(id"))
    }

    @Test("the wizard in Mermaid")
    func wizardMermaid() throws {
        let expected = #"""
            flowchart TB
              start((" "))
              s0(["cancelled"])
              s1("page1<br/>▤ profile<br/>needs named")
              s2("page2<br/>▤ profile<br/>needs named")
              s3("page3<br/>▤ profile, quote<br/>needs named")
              s4[["quote_editor<br/>flow edit-quote<br/>done.cancelled – stays"]]
              s5("Who are you?<br/>start<br/>▤ profile")
              any("any screen")
              start --> s5
              s1 -->|"next"| s2
              s2 -->|"edit ⧉"| s4
              s2 -->|"next"| s3
              s3 -->|"finish ✎ set_root"| s5
              s4 -->|"done.saved"| s3
              s5 -->|"sign_in ✎"| s1
              any -->|"cancel"| s0
              legend["▤ shows data<br/>✎ changes data<br/>⧉ opens a modal context"]
              style legend fill:#ffffff,stroke:#cbd2d9,color:#1f2933
              classDef startNode fill:#5b7083,stroke:#5b7083
              class start startNode
              classDef screenNode fill:#eef4fb,stroke:#5b7083,color:#1f2933
              class s1,s2,s3,s5 screenNode
              classDef flowNode fill:#eaf7ef,stroke:#5b7083,color:#1f2933
              class s4 flowNode
              classDef finalNode fill:#f0edf6,stroke:#5b7083,color:#1f2933
              class s0 finalNode
              classDef anywhereNode fill:#f7f7f7,stroke:#5b7083,color:#1f2933,stroke-dasharray:4 3
              class any anywhereNode

            """#
        #expect(try graph(Flows.wizard, with: Flows.editQuote).mermaid == expected)
    }

    @Test("the wizard for Graphviz")
    func wizardGraphviz() throws {
        let expected = #"""
            digraph "wizard 1" {
              graph [rankdir=TB, bgcolor="transparent", pad=0.3, nodesep=0.5, ranksep=0.6]
              node [fontname="Helvetica,Arial,sans-serif", fontsize=12, fontcolor="#1f2933", color="#5b7083", penwidth=1.2, margin="0.2,0.1"]
              edge [fontname="Helvetica,Arial,sans-serif", fontsize=10, fontcolor="#1f2933", color="#718096", arrowsize=0.7]
              start [label="", shape=circle, style=filled, width=0.18, fixedsize=true, fillcolor="#5b7083"]
              s0 [label=<<B>cancelled</B>>, shape=oval, style=filled, peripheries=2, fillcolor="#f0edf6"]
              s1 [label=<<B>page1</B><BR/>▤ profile<BR/>needs named>, shape=box, style="rounded,filled", fillcolor="#eef4fb"]
              s2 [label=<<B>page2</B><BR/>▤ profile<BR/>needs named>, shape=box, style="rounded,filled", fillcolor="#eef4fb"]
              s3 [label=<<B>page3</B><BR/>▤ profile, quote<BR/>needs named>, shape=box, style="rounded,filled", fillcolor="#eef4fb"]
              s4 [label=<<B>quote_editor</B><BR/>flow edit-quote<BR/>done.cancelled – stays>, shape=box, style=filled, peripheries=2, fillcolor="#eaf7ef"]
              s5 [label=<<B>Who are you?</B><BR/><FONT POINT-SIZE="9" COLOR="#52606d">start</FONT><BR/>▤ profile>, shape=box, style="rounded,filled", fillcolor="#eef4fb"]
              any [label=<<B>any screen</B>>, shape=box, style="rounded,filled,dashed", fillcolor="#f7f7f7"]
              start -> s5
              s1 -> s2 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>next<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s2 -> s4 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>edit ⧉<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s2 -> s3 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>next<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s3 -> s5 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>finish ✎ set_root<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s4 -> s3 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>done.saved<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s5 -> s1 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>sign_in ✎<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              any -> s0 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>cancel<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              legend [label=<<TABLE BORDER="1" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>▤ shows data<BR ALIGN="LEFT"/>✎ changes data<BR ALIGN="LEFT"/>⧉ opens a modal context<BR ALIGN="LEFT"/></TD></TR></TABLE>>, shape=plaintext, fontsize=10]
            }

            """#
        #expect(try graph(Flows.wizard, with: Flows.editQuote).graphviz == expected)
    }

    @Test("names that mean something in Mermaid")
    func oddMermaid() throws {
        let expected = #"""
            flowchart TB
              start((" "))
              s0("#49;. #42;He#42; said #34;hi#34; #92; #38; #60;b#62;#35;1#59;#60;/b#62; #37;#37;#123;x#125;#37;#37; #96;y#96; #124; z  end<br/>a<br/>needs #95;so.<br/>↩ no way back<br/>#50;. list – pop<br/>stay – stays")
              s1("b<br/>leave discard – dismiss<br/>◷ 2h – expires")
              s2[["child<br/>flow edit-quote 1<br/>done.cancelled – stays"]]
              s3(["end<br/>outcome over"])
              s4{"which"}
              any("any screen")
              start --> s0
              s0 -->|"#49;. list [#95;so.]<br/>say-no replace ⊘<br/>◷ 90s"| s1
              s1 -->|"go"| s4
              s1 -.->|"↩"| s0
              s2 -->|"done"| s3
              s4 -->|"#49;. [#95;so.] ⧉"| s2
              s4 -->|"#50;. else"| s3
              any -->|"x [/limits/name == #34;#92;#34;a#92;#34; #60;#38;#62; #92;#92;#34; or not (profile with name, email and quote wi…"| s3
              legend["⧉ opens a modal context<br/>⊘ no way back past this point<br/>↩ what going back does<br/>◷ after a time"]
              style legend fill:#ffffff,stroke:#cbd2d9,color:#1f2933
              classDef startNode fill:#5b7083,stroke:#5b7083
              class start startNode
              classDef screenNode fill:#eef4fb,stroke:#5b7083,color:#1f2933
              class s0,s1 screenNode
              classDef choiceNode fill:#fdf6e3,stroke:#5b7083,color:#1f2933
              class s4 choiceNode
              classDef flowNode fill:#eaf7ef,stroke:#5b7083,color:#1f2933
              class s2 flowNode
              classDef finalNode fill:#f0edf6,stroke:#5b7083,color:#1f2933
              class s3 finalNode
              classDef anywhereNode fill:#f7f7f7,stroke:#5b7083,color:#1f2933,stroke-dasharray:4 3
              class any anywhereNode

            """#
        #expect(try graph(Self.oddities, with: Flows.editQuote).mermaid == expected)
    }

    @Test("names that mean something in Graphviz")
    func oddGraphviz() throws {
        let expected = #"""
            digraph "odd 3" {
              graph [rankdir=TB, bgcolor="transparent", pad=0.3, nodesep=0.5, ranksep=0.6]
              node [fontname="Helvetica,Arial,sans-serif", fontsize=12, fontcolor="#1f2933", color="#5b7083", penwidth=1.2, margin="0.2,0.1"]
              edge [fontname="Helvetica,Arial,sans-serif", fontsize=10, fontcolor="#1f2933", color="#718096", arrowsize=0.7]
              start [label="", shape=circle, style=filled, width=0.18, fixedsize=true, fillcolor="#5b7083"]
              s0 [label=<<B>1. *He* said "hi" \ &amp; &lt;b&gt;#1;&lt;/b&gt; %%{x}%% `y` | z  end</B><BR/><FONT POINT-SIZE="9" COLOR="#52606d">a</FONT><BR/>needs _so.<BR/>↩ no way back<BR/>2. list – pop<BR/>stay – stays>, shape=box, style="rounded,filled", fillcolor="#eef4fb"]
              s1 [label=<<B>b</B><BR/>leave discard – dismiss<BR/>◷ 2h – expires>, shape=box, style="rounded,filled", fillcolor="#eef4fb"]
              s2 [label=<<B>child</B><BR/>flow edit-quote 1<BR/>done.cancelled – stays>, shape=box, style=filled, peripheries=2, fillcolor="#eaf7ef"]
              s3 [label=<<B>end</B><BR/>outcome over>, shape=oval, style=filled, peripheries=2, fillcolor="#f0edf6"]
              s4 [label=<<B>which</B>>, shape=diamond, style=filled, margin="0.05,0.05", fillcolor="#fdf6e3"]
              any [label=<<B>any screen</B>>, shape=box, style="rounded,filled,dashed", fillcolor="#f7f7f7"]
              start -> s0
              s0 -> s1 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>1. list [_so.]<BR ALIGN="LEFT"/>say-no replace ⊘<BR ALIGN="LEFT"/>◷ 90s<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s1 -> s4 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>go<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s1 -> s0 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>↩<BR ALIGN="LEFT"/></TD></TR></TABLE>>, style=dashed]
              s2 -> s3 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>done<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s4 -> s2 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>1. [_so.] ⧉<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              s4 -> s3 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>2. else<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              any -> s3 [label=<<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>x [/limits/name == "\"a\" &lt;&amp;&gt; \\" or not (profile with name, email and quote wi…<BR ALIGN="LEFT"/></TD></TR></TABLE>>]
              legend [label=<<TABLE BORDER="1" CELLBORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="#ffffff"><TR><TD>⧉ opens a modal context<BR ALIGN="LEFT"/>⊘ no way back past this point<BR ALIGN="LEFT"/>↩ what going back does<BR ALIGN="LEFT"/>◷ after a time<BR ALIGN="LEFT"/></TD></TR></TABLE>>, shape=plaintext, fontsize=10]
            }

            """#
        #expect(try graph(Self.oddities, with: Flows.editQuote).graphviz == expected)
    }

    @Test("dot draws whatever flow", .enabled(if: graphviz != nil, "no dot in PATH: install the package graphviz"))
    func accepted() async throws {
        let tool = try #require(graphviz)
        _ = try await tool.svg(of: graph(Self.oddities, with: Flows.editQuote).graphviz)
        for seed in UInt64(0)..<40 {
            var random = RandomFlows(seed: seed)
            let flows = random.make()
            let files = flows.map { FlowFile(name: $0.id, bytes: $0.json(among: flows).serialized()) }
            let catalog = try #require(FlowLoader(services: ModelFlow.directory).load(files).catalog)
            for flow in catalog.flows { _ = try await tool.svg(of: FlowGraph(flow).graphviz) }
        }
    }
}
