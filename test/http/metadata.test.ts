import { findMetadataProblem } from '../../src/metadata.js';

const message = 'must not hold a card number';

test('metadata holds no card number, as text, in a text or as a number', () => {
  for (const card of ['4111111111111111', 'paid by 4111-1111-1111-1111', 4111111111111111]) {
    expect(findMetadataProblem({ a: [{ card }] })).toEqual({ path: ['a', '0', 'card'], message });
  }
});

test('a fraction is no card number, whatever its digits add up to', () => {
  expect(findMetadataProblem({ share: 0.4111111111111111 })).toBeNull();
  expect(findMetadataProblem({ share: 4111111111111111.5 })).not.toBeNull();
});

test('a name is no place for a card number either', () => {
  const metadata = { cards: { '4111 1111 1111 1111': true } };
  expect(findMetadataProblem(metadata)).toEqual({ path: ['cards'], message });
});
