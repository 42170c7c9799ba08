// The demo's own words in two languages: English stands where it is used, German here. The flows have their own texts, which
// the server sends in the language that is asked for.

const german = {
  "{event} is not possible yet: {reasons}": "{event} ist noch nicht möglich: {reasons}",
  "{flow}, version {version}.": "{flow}, Version {version}.",
  "all removed": "alle entfernt",
  "any screen": "jeder Bildschirm",
  "As JSON.": "Als JSON.",
  "Author": "Von wem",
  "Back": "Zurück",
  "Begin a new session": "Neue Sitzung beginnen",
  "Behind the desk": "Hinter dem Empfang",
  "Cancel": "Abbrechen",
  "Close": "Schließen",
  "Continue as {name}": "Weiter als {name}",
  "Continue on another device": "Auf einem anderen Gerät fortsetzen",
  "Coordinators": "Koordinatoren",
  "does not have the expected form": "hat nicht die erwartete Form",
  "Edit": "Bearbeiten",
  "Edit the quotation": "Zitat bearbeiten",
  "empty": "leer",
  "End it": "Beenden",
  "Finish": "Fertig",
  "Finishing removes the profile from the service locator and begins with a new stack.":
    "Am Ende wird das Profil aus dem Service-Locator entfernt, und es beginnt ein neuer Stapel.",
  "First visitor": "Erster Gast",
  "Flow": "Ablauf",
  "For example: {examples}": "Zum Beispiel: {examples}",
  "Good to see you,": "Schön, dass Sie da sind,",
  "in {state}": "in {state}",
  "Its answer": "Die Antwort",
  "Its services and journeys are removed, and its token opens nothing any more.":
    "Ihre Dienste und Abläufe sind entfernt, und ihr Token öffnet nichts mehr.",
  "Keep the profile": "Profil behalten",
  "Language": "Sprache",
  "Last request": "Letzte Anfrage",
  "Link to open there": "Adresse, die dort zu öffnen ist",
  "Live services": "Lebende Dienste",
  "Next": "Weiter",
  "Nobody removed the profile, so it still says {name}. A new visitor at this desk would be greeted by that name.":
    "Niemand hat das Profil entfernt, darum steht noch {name} darin. Ein neuer Gast würde mit diesem Namen begrüßt.",
  "none": "keine",
  "none lives yet": "noch keine",
  "not yet": "noch nicht",
  "optional": "freiwillig",
  "Plain HTML, CSS and one module,": "Reines HTML, CSS und ein Modul,",
  "Please choose": "Bitte wählen",
  "Quotation": "Zitat",
  "Remove": "Entfernen",
  "Save": "Speichern",
  "Second visitor": "Zweiter Gast",
  "Sign in": "Anmelden",
  "Sign in as the first visitor. The second one is still a stranger: nothing is shared.":
    "Melden Sie den ersten Gast an. Der zweite bleibt ein Fremder: nichts ist gemeinsam.",
  "Stack": "Stapel",
  "Start": "Beginnen",
  "Start over": "Von vorn",
  "Start over without removing it, and see who is greeted.": "Ohne es zu entfernen von vorn beginnen, und sehen, wer begrüßt wird.",
  "The desk has no profile of you yet. It makes one when you sign in.":
    "Der Empfang hat noch kein Profil von Ihnen. Es entsteht, wenn Sie sich anmelden.",
  "The flow": "Der Ablauf",
  "The flow ended with the outcome “{outcome}”.": "Der Ablauf endete mit „{outcome}“.",
  "The quotation opens as a modal: a child coordinator with a draft of its own, which is gone when it closes.":
    "Das Zitat öffnet sich als Dialog: ein eigener Koordinator mit einem Entwurf, der beim Schließen verschwindet.",
  "The server cannot be reached. What you see may be old.": "Der Server ist nicht zu erreichen. Was Sie sehen, kann veraltet sein.",
  "This": "Das",
  "This journey is abandoned": "Dieser Ablauf ist abgebrochen",
  "This journey is expired": "Dieser Ablauf ist abgelaufen",
  "This journey is finished": "Dieser Ablauf ist beendet",
  "This journey is gone": "Diesen Ablauf gibt es nicht mehr",
  "This journey is stuck": "Dieser Ablauf steckt fest",
  "This page is written to be read: start with": "Diese Seite ist zum Lesen geschrieben: Anfang bei",
  "This session has ended": "Diese Sitzung ist beendet",
  "Total": "Summe",
  "Try other flows as the second visitor:": "Andere Abläufe mit dem zweiten Gast:",
  "Two visitors at one desk: two sessions, each with services of its own. The server keeps the navigation; this page draws screens and sends events.":
    "Zwei Gäste an einem Empfang: zwei Sitzungen, jede mit eigenen Diensten. Der Server führt die Navigation; diese Seite zeichnet Bildschirme und sendet Ereignisse.",
  "Visitor": "Gast",
  "Waiting for a back end that has to do its part.": "Ein anderes System ist an der Reihe.",
  "Walk on to the quotation, then press the browser's back button. Reload, or open a second tab: both follow.":
    "Gehen Sie bis zum Zitat, und dann im Browser zurück. Laden Sie neu oder öffnen Sie ein zweites Fenster: beide folgen.",
  "What {flow} has to be told": "Was {flow} wissen muss",
  "What lives": "Was lebt",
  "What to try": "Zum Ausprobieren",
  "with a basket, or": "mit einem Korb, oder",
  "with the name “ada”, the password “analytical” and the code 184300.":
    "mit dem Namen „ada“, dem Passwort „analytical“ und dem Code 184300.",
  "Your name": "Ihr Name",
  "Your name is in the service profile of this session. No user id was sent, and nobody else can ask for it.":
    "Ihr Name steht im Dienst profile dieser Sitzung. Keine Benutzer-ID wurde gesendet, und niemand sonst kann ihn lesen.",
};

export const languages = { en: "English", de: "Deutsch" };
const key = "concierge-demo-language";
const own = () => navigator.languages.map((tag) => tag.split("-")[0]).find((name) => name in languages);
let language = localStorage.getItem(key) ?? own() ?? "en";

export const current = () => language;

/** word("Continue as {name}", { name: "Ada" }) */
export function word(text, values = {}) {
  const words = language === "de" ? (german[text] ?? text) : text;
  return words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

export function speak(next) {
  language = next;
  localStorage.setItem(key, next);
}

/** Puts the language's words into the elements with `data-word`, and into the labels of those with `data-label`. */
export function translate(root, prefix = "") {
  for (const node of root.querySelectorAll("[data-word]")) {
    node.dataset.word ||= node.textContent.trim().replace(/\s+/g, " ");
    node.textContent = word(node.dataset.word);
  }
  for (const node of root.querySelectorAll("[data-label]")) node.ariaLabel = prefix + word(node.dataset.label);
}
