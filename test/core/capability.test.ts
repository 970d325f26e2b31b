import { createParts, defineCapability, type CoreDeps } from '../../src/core/capability.js';

/** No part below uses the core. */
const core = {} as CoreDeps;

function setUp() {
  const events: string[] = [];
  const part = (name: string) => {
    events.push(`create ${name}`);
    return {
      name,
      async idle() {
        await Promise.resolve();
        events.push(`idle ${name}`);
      },
    };
  };
  const cards = defineCapability({ name: 'cards', create: () => part('cards') });
  const cardFundings = defineCapability({
    name: 'card-fundings',
    needs: { issued: cards },
    create: (_, { issued }) => ({ ...part('card-fundings'), of: issued.name }),
  });
  const withoutParts = defineCapability({ name: 'provider-events' });
  return { events, ...createParts([cardFundings, cards, withoutParts], core) };
}

describe('the parts of capabilities', () => {
  test('every capability creates its parts once, after those that it needs', () => {
    const { events, parts } = setUp();
    expect(events).toEqual(['create cards', 'create card-fundings']);
    expect(parts.cardFundings.of).toBe('cards');
  });

  test('parts have the name of their capability in camelCase, and a capability without parts has no name', () => {
    expect(Object.keys(setUp().parts)).toEqual(['cardFundings', 'cards']);
  });

  test('idle waits for a capability before those that it needs', async () => {
    const { events, idle } = setUp();
    events.length = 0;
    await idle();
    expect(events).toEqual(['idle card-fundings', 'idle cards']);
  });
});
