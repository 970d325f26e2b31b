/** One call of a method of a port, with the kind of its answer; for an unknown outcome the reason. */
export type ProviderCall = {
  capability: string;
  provider: string;
  call: string;
  result: string;
  seconds: number;
};

/** Told of each call after its end. It must not fail. */
export type ObserveCall = (call: ProviderCall) => void;

type Method = (...args: unknown[]) => unknown;

/** The adapter with its calls observed. A method that answers without a promise, such as a reader, calls nobody. */
export function observed<Adapter extends { name: string }>(
  adapter: Adapter,
  capability: string,
  observe: ObserveCall,
): Adapter {
  const of = { capability, provider: adapter.name };
  const members = Object.entries(adapter).map(([call, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [call, member];
    const method = member as Method;
    const withTime: Method = (...args) => {
      const began = performance.now();
      const answer = method.apply(adapter, args);
      if (!(answer instanceof Promise)) return answer;
      const note = (result: string) =>
        observe({ ...of, call, result, seconds: (performance.now() - began) / 1000 });
      answer.then(
        (value: unknown) => note(resultOf(value)),
        () => note('failed'),
      );
      return answer;
    };
    return [call, withTime];
  });
  return Object.fromEntries(members) as Adapter;
}

/** The kind of an answer. Answers without kinds are lists and the like. */
function resultOf(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return 'answered';
  const { kind, reason } = answer as { kind?: unknown; reason?: unknown };
  if (kind === 'unknown' && typeof reason === 'string') return reason;
  return typeof kind === 'string' ? kind : 'answered';
}
