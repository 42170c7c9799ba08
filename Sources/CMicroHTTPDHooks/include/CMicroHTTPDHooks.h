/// Has no function to call. A program that links it lets the HTTP server see what libmicrohttpd reads and sends, see
/// hooks.c.
