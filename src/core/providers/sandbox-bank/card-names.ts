import type { About, Unknown } from '../port.js';
import { ownId } from './card-wire.js';

/** Without the issuer's id nothing is asked, and what it does not know by its id may exist under our reference. */
const NOT_KNOWN = { kind: 'unknown', reason: 'unrecognized', providerRequestId: null } as const;

/** Kinds of answers about an instruction, besides those that are read. */
type Asked = Unknown & { providerRequestId: string | null };

/** How the issuer finds what it was told to do. */
export type CardNames = ReturnType<typeof createCardNames>;

/** Creates the names of instructions: our references, or, with `id`, the issuer's ids alone. */
export function createCardNames(lookup: 'reference' | 'id') {
  return {
    /** Asks about an instruction by its name, made safe for a path. */
    async ask<Answer extends { kind: string }>(
      { reference, handle }: About,
      call: (name: string) => Promise<Answer>,
    ): Promise<Answer | Asked> {
      const name = lookup === 'id' ? handle : reference;
      if (name === null) return NOT_KNOWN;
      const answer = await call(encodeURIComponent(name));
      return lookup === 'id' && answer.kind === 'not_found' ? NOT_KNOWN : answer;
    },

    /** A state with the id in the answer, if questions are to name it. */
    named<State extends { kind: string }>(
      state: State,
      body: unknown,
    ): State & { handle?: string } {
      const id = lookup === 'id' && state.kind !== 'unknown' ? ownId.safeParse(body) : null;
      return id?.success ? { ...state, handle: id.data.id } : state;
    },
  };
}
