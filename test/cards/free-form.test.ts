import { z } from 'zod';
import { freeForm } from '../../src/capabilities/cards/schema.js';

const body = freeForm('Probe', { amount_minor: z.int() });

test('unknown fields of a card request are kept as metadata, whatever their names', () => {
  const given = { amount_minor: 1, note: 'a', constructor: 'b', metadata: { order: 'c' } };
  expect(body.parse(given)).toMatchObject({
    amount_minor: 1,
    metadata: { note: 'a', constructor: 'b', order: 'c' },
  });
});
