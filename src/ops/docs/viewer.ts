import serve from '@scalar/fastify-api-reference';

type Reply = { header: () => Reply; send: (body: string) => Reply };
type Route = { url: string; handler: (request: object, reply: Reply) => unknown };

/**
 * Scalar's script for browsers. Its Fastify plugin is the only package that carries the script without the 200 MB that
 * it is made from, and hands it out as an answer to a request: so here is what asks it.
 */
export function viewerScript(): string {
  const sent: string[] = [];
  const reply: Reply = {
    header: () => reply,
    send(body) {
      sent.push(body);
      return reply;
    },
  };
  const route = ({ url, handler }: Route) => {
    if (url.endsWith('.js')) handler({}, reply);
  };
  const options = { configuration: { url: '/openapi.json' } };
  (serve as unknown as (host: object, options: object, done: () => void) => void)(
    { route, hasPlugin: () => false },
    options,
    () => {},
  );
  const [script] = sent;
  if (script === undefined) throw new Error('The plugin of the viewer serves no script.');
  // Its source map is not in the package.
  return script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}
