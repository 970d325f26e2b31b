import serve from '@scalar/fastify-api-reference';

type Reply = { header: () => Reply; send: (body: string) => Reply };
type Route = { url: string; handler: (request: object, reply: Reply) => unknown };

/**
 * Returns Scalar's script for browsers. Only its Fastify plugin contains the script without 200 MB of build
 * dependencies. The plugin serves the script as the answer to a request, so this function imitates the Fastify host.
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
  // The package does not contain the source map.
  return script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}
