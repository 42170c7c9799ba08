// The walk of the README by a client that openapi-generator's typescript-fetch made. Needs the address of a public listener.
import {
    Configuration, JourneysApi, ResponseError, ServicesApi, SessionsApi, type Basket, type BasketAddInput,
} from "./client";

declare const process: { argv: string[]; exitCode?: number };

const basePath = process.argv[2];

/** Compared as JSON. */
function same(one: unknown, other: unknown): void {
    if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error(`${JSON.stringify(one)}, not ${JSON.stringify(other)}`);
}

async function refused(request: Promise<unknown>, status: number): Promise<void> {
    const error = await request.then(() => undefined, (error) => error);
    same(error instanceof ResponseError ? error.response.status : error, status);
}

async function walk(): Promise<void> {
    const created = await new SessionsApi(new Configuration({ basePath })).createSession({ sessionCreation: {} });
    const configuration = new Configuration({ basePath, accessToken: created.token });
    const [sessions, services, journeys] = [
        new SessionsApi(configuration), new ServicesApi(configuration), new JourneysApi(configuration)];
    const session = "current";
    same((await sessions.getSession({ session })).id, created.session.id);

    const patched = await services.patchProfileRaw({ session, profilePatch: { name: "Ada" } });
    same((await patched.value())?.name, "Ada");
    const etag = patched.raw.headers.get("ETag") ?? "";
    await refused(services.patchProfile({ session, profilePatch: { name: "Eve" }, ifMatch: '"0"' }), 412);
    await refused(services.getProfile({ session, ifNoneMatch: etag }), 304);
    await services.replaceQuote({ session, quote: { text: "To be", author: "WS" }, ifNoneMatch: "*" });
    same((await services.replaceProfile({ session, profileWrite: { name: "Ada", locale: "en" } }))?.locale, "en");
    same((await services.patchProfile({ session, profilePatch: { locale: null } }))?.locale, null);

    // A service of the configuration, which commands change.
    const empty: Basket = await services.getBasket({ session });
    same([empty.items, empty.total], [[], 0]);
    const basketAddInput: BasketAddInput = { sku: "TEA", quantity: 2 };
    same((await services.callBasketAdd({ session, basketAddInput }))?.output.total, 900);
    await refused(services.callBasketAdd({ session, basketAddInput: { sku: "GOLD" } }), 409);
    same((await services.getBasket({ session })).items[0]?.price, 450);
    same((await sessions.updateSession({ session, sessionPatch: { labels: { device: "phone" } } }))?.labels, { device: "phone" });

    await journeys.restartJourney({ session, id: "main", journeyRestart: { flow: "wizard" } });
    for (const replayed of [null, "true"]) {
        const moved = await journeys.sendEventRaw({
            session, id: "main", journeyEvent: { event: "sign_in", data: { name: "Grace" } },
            idempotencyKey: '"3b0f6f1c-8c3e-4a39-9f0e-8d7f1b8c2a11"' });
        same((await moved.value())?.screen?.id, "page1");
        same(moved.raw.headers.get("Idempotency-Replayed"), replayed);
    }
    same((await journeys.getJourney({ session, id: "main" })).step, 2);
    same((await services.getProfile({ session })).name, "Grace");
    same((await journeys.startJourney({ session, journeyStart: { flow: "edit-quote" } }))?.flow, "edit-quote");

    await sessions.endSession({ session });
    await refused(sessions.getSession({ session }), 401);
    console.log("The generated client took the whole walk.");
}

walk().catch((error) => {
    console.error(error);
    process.exitCode = 1;
});
