import { readWait } from '../../../src/platform/http/prefer.js';

describe('Prefer: wait', () => {
  test.each<[string, number]>([
    ['wait=10', 10],
    ['wait=0', 0],
    ['WAIT=5', 5],
    ['wait = 7', 7],
    ['wait="7"', 7],
    ['wait=30', 30],
    ['respond-async, wait=10', 10],
    ['return=minimal;foo="a, b", wait=3; bar', 3],
    ['wait=4, wait=9', 4],
  ])('Prefer: %s is understood', (header, seconds) => {
    expect(readWait(header)).toBe(seconds);
  });

  test('Prefer: wait of more than 30 seconds is cut to 30', () => {
    expect(readWait('wait=31')).toBe(30);
    expect(readWait('wait=999999999')).toBe(30);
  });

  test.each([
    '',
    'wait',
    'wait=',
    'wait=-1',
    'wait=1.5',
    'wait=soon',
    'wait=1e3',
    'wait=10s',
    'wait=9999999999',
    'awaiting=5',
    'wait="5',
    'respond-async',
    'foo="wait=5"',
    'foo="a, wait=5, b"',
    '\u0000',
  ])('Prefer: %j requests no wait', (header) => {
    expect(readWait(header)).toBeNull();
  });
});
