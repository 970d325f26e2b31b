/**
 * The names whose values stay in the stored copy of a message. `value`: a number, a boolean, or a text that looks like an
 * identifier. `own_id`: an id of ours only, for fields in which the provider also takes free text.
 */
export type SafeFields = Readonly<Record<string, 'value' | 'own_id'>>;

/** An authentic message that is to be stored. */
export type StorableReading<Event> =
  | { kind: 'event'; event: Event }
  /**
   * `irrelevant`: the adapter knows the type, and nothing follows from it. `name`: the provider's type, if it has one. `reply`
   * takes the place of a receipt: a request that waits for a decision, and that cannot be read, is declined.
   */
  | {
      kind: 'irrelevant' | 'unreadable';
      dedupeKey: string;
      name: string | null;
      reply?: { status: number; body: object };
    };

/** An adapter's reading of a message from its provider. */
export type MessageReading<Event> =
  | StorableReading<Event>
  /** Authentic, and for another port of this provider, which has the same address. */
  | { kind: 'other_port'; dedupeKey: string; name: string }
  | { kind: 'bad_signature' };

/** The part of a port that reads the provider's messages. */
export type MessageReader<Event, Request = never> = {
  /** Authenticates and reads a message; header names in lower case. Never throws. */
  readMessage(
    raw: Buffer,
    headers: Record<string, string | undefined>,
    now: Date,
  ): MessageReading<Event> | Request;
  /** Reads the masked copy of a message that could not be read when it arrived. Its secrets are gone. Never throws. */
  readStored(message: unknown): MessageReading<Event> | Request;
  /** The names whose values the masked copy keeps. */
  safeFields: SafeFields;
};
