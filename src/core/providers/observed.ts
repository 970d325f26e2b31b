import { AsyncLocalStorage } from 'node:async_hooks';

/** One call of a method of a port, with the kind of its answer; the reason if there was no usable one. */
export type ProviderCall = {
  capability: string;
  provider: string;
  call: string;
  result: string;
  seconds: number;
  /** The first argument, which may be private: only an id of ours may leave the process. */
  given: unknown;
  /** The provider's id of the request, if the answer has one. */
  requestId: string | null;
  /** There was no usable answer. */
  failed: boolean;
};

/** Told of each call after its end. It must not fail. */
export type ObserveCall = (call: ProviderCall) => void;

type Method = (...args: unknown[]) => unknown;

/** The piece of work that calls a provider, with the last answer. */
const work = new AsyncLocalStorage<{ answer: unknown }>();

/** Runs a piece of work, which may fail. `lastAnswer` returns what a provider has answered last in it; null before that. */
export function withLastAnswer<T>(run: (lastAnswer: () => unknown) => Promise<T>): Promise<T> {
  const own: { answer: unknown } = { answer: null };
  return work.run(own, () => run(() => own.answer));
}

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
      const note = (result: string, requestId: string | null, failed: boolean) => {
        const seconds = (performance.now() - began) / 1000;
        observe({ ...of, call, result, seconds, given: args[0], requestId, failed });
      };
      const noteAnswer = (value: unknown) => {
        const own = work.getStore();
        if (own) own.answer = value;
        note(resultOf(value), requestIdOf(value), hasNoAnswer(value));
      };
      answer.then(noteAnswer, () => note('failed', null, true));
      return answer;
    };
    return [call, withTime];
  });
  return Object.fromEntries(members) as Adapter;
}

/** Kinds that say that there was no usable answer; their reason is the result. */
const WITHOUT_ANSWER = new Set<unknown>(['unknown', 'no_answer']);

const fieldsOf = (answer: unknown) =>
  (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>;

/** The kind of an answer. Answers without kinds are lists and the like. */
function resultOf(answer: unknown): string {
  const { kind, reason } = fieldsOf(answer);
  if (WITHOUT_ANSWER.has(kind) && typeof reason === 'string') return reason;
  return typeof kind === 'string' ? kind : 'answered';
}

const hasNoAnswer = (answer: unknown): boolean => WITHOUT_ANSWER.has(fieldsOf(answer)['kind']);

function requestIdOf(answer: unknown): string | null {
  const { providerRequestId: id } = fieldsOf(answer);
  return typeof id === 'string' ? id : null;
}
