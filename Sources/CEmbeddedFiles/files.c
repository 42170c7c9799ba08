#include "CEmbeddedFiles.h"

// The compiler of Swift 6.3 knows #embed, which is new in C23, and rebuilds this file when an embedded one has changed.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page[] = {
#embed "../../demo/index.html"
};
static const unsigned char styles[] = {
#embed "../../demo/demo.css"
};
static const unsigned char icon[] = {
#embed "../../demo/icon.svg"
};
static const unsigned char demo[] = {
#embed "../../demo/demo.js"
};
static const unsigned char pane[] = {
#embed "../../demo/pane.js"
};
static const unsigned char screens[] = {
#embed "../../demo/screens.js"
};
static const unsigned char wizard[] = {
#embed "../../demo/wizard.js"
};
static const unsigned char basket[] = {
#embed "../../demo/basket.js"
};
static const unsigned char forms[] = {
#embed "../../demo/forms.js"
};
static const unsigned char inspector[] = {
#embed "../../demo/inspector.js"
};
static const unsigned char drawing[] = {
#embed "../../demo/drawing.js"
};
static const unsigned char picture[] = {
#embed "../../demo/picture.js"
};
static const unsigned char words[] = {
#embed "../../demo/words.js"
};
static const unsigned char dom[] = {
#embed "../../demo/dom.js"
};
static const unsigned char console_page[] = {
#embed "../../console/index.html"
};
static const unsigned char console_styles[] = {
#embed "../../console/console.css"
};
static const unsigned char console_script[] = {
#embed "../../console/console.js"
};
static const unsigned char console_api[] = {
#embed "../../console/api.js"
};
static const unsigned char console_actions[] = {
#embed "../../console/actions.js"
};
static const unsigned char console_lists[] = {
#embed "../../console/lists.js"
};
static const unsigned char console_journey[] = {
#embed "../../console/journey.js"
};
static const unsigned char console_funnel[] = {
#embed "../../console/funnel.js"
};
static const unsigned char client[] = {
#embed "../../clients/js/concierge.js"
};

static const unsigned char api_components[] = {
#embed "../../clients/openapi/components.json"
};

static const char script_type[] = "text/javascript; charset=utf-8";

static const CEmbeddedFile demo_files[] = {
    {"/demo", "text/html; charset=utf-8", page, sizeof page},
    {"/demo/demo.css", "text/css; charset=utf-8", styles, sizeof styles},
    {"/demo/icon.svg", "image/svg+xml", icon, sizeof icon},
    {"/demo/demo.js", script_type, demo, sizeof demo},
    {"/demo/pane.js", script_type, pane, sizeof pane},
    {"/demo/screens.js", script_type, screens, sizeof screens},
    {"/demo/wizard.js", script_type, wizard, sizeof wizard},
    {"/demo/basket.js", script_type, basket, sizeof basket},
    {"/demo/forms.js", script_type, forms, sizeof forms},
    {"/demo/inspector.js", script_type, inspector, sizeof inspector},
    {"/demo/drawing.js", script_type, drawing, sizeof drawing},
    {"/demo/picture.js", script_type, picture, sizeof picture},
    {"/demo/words.js", script_type, words, sizeof words},
    {"/demo/dom.js", script_type, dom, sizeof dom},
    {"/demo/concierge.js", script_type, client, sizeof client},
};

const CEmbeddedFile *cembedded_demo_file(size_t place) {
    return place < sizeof demo_files / sizeof *demo_files ? &demo_files[place] : NULL;
}

// The helpers, the picture of a flow and the icon are the demo's.
static const CEmbeddedFile console_files[] = {
    {"/console", "text/html; charset=utf-8", console_page, sizeof console_page},
    {"/console/console.css", "text/css; charset=utf-8", console_styles, sizeof console_styles},
    {"/console/icon.svg", "image/svg+xml", icon, sizeof icon},
    {"/console/console.js", script_type, console_script, sizeof console_script},
    {"/console/api.js", script_type, console_api, sizeof console_api},
    {"/console/actions.js", script_type, console_actions, sizeof console_actions},
    {"/console/lists.js", script_type, console_lists, sizeof console_lists},
    {"/console/journey.js", script_type, console_journey, sizeof console_journey},
    {"/console/funnel.js", script_type, console_funnel, sizeof console_funnel},
    {"/console/picture.js", script_type, picture, sizeof picture},
    {"/console/dom.js", script_type, dom, sizeof dom},
};

const CEmbeddedFile *cembedded_console_file(size_t place) {
    return place < sizeof console_files / sizeof *console_files ? &console_files[place] : NULL;
}

const CEmbeddedFile cembedded_api_components = {NULL, "application/json", api_components, sizeof api_components};
