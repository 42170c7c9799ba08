/// Has nothing to call: a program that is linked with it lets the HTTP server see what libmicrohttpd reads and sends, see
/// hooks.c.
