// Requests for what is below page/ are answered by Python, which a worker of the page at index.html runs.
const HERE = new URL("./", self.location).href, PAGES = HERE + "page/";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { url } = event.request;
  if (url.startsWith(PAGES) && !url.startsWith(PAGES + "static/")) event.respondWith(answer(event.request));
});

async function answer(request) {
  const open = await self.clients.matchAll({ type: "window" });
  const holders = open.filter(({ url }) => url.startsWith(HERE) && !url.startsWith(PAGES));
  const address = request.url.slice(PAGES.length);
  if (!holders.length) return Response.redirect(HERE + "#" + address, 303);
  const given = { method: request.method, url: request.url, root: new URL(PAGES).pathname.slice(0, -1), body: await request.text() };
  const { done, failed } = await new Promise((told) => {
    for (const holder of holders) { // the one that has the database answers
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => told(data);
      holder.postMessage(given, [port2]);
    }
  });
  if (failed) return new Response(failed, { status: 500, headers: { "content-type": "text/plain; charset=utf-8" } });
  const headers = new Headers(done.headers);
  if (headers.has("location")) return Response.redirect(new URL(headers.get("location"), request.url), done.status);
  return new Response(done.content, { status: done.status, headers });
}
