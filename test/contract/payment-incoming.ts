import { ordersFor, type Delivered, type Subject } from './payment-subject.js';

export function describePaymentEvents(at: Subject): void {
  const { pageOrder, open, read } = ordersFor(at);

  describe('messages from the provider', () => {
    let delivered: Delivered;

    beforeAll(async () => {
      const order = pageOrder();
      await at.harness.act(await open(order), 'pay');
      const [first] = await at.harness.callbacksAbout(order.reference, 1);
      if (!first) throw new Error('no callback');
      delivered = first;
    });

    test('a repeat of one delivery reads the same', () => {
      expect(read(delivered).kind).toBe('event');
      expect(read(delivered)).toEqual(read(delivered));
    });

    test('any changed byte of the body is a bad signature, and so is an old one where signatures have a time', () => {
      const bad = { kind: 'bad_signature' };
      const { raw, headers } = delivered;
      for (let i = 0; i < raw.length; i += 7) {
        const changed = Buffer.from(raw);
        changed[i] = (changed[i] ?? 0) ^ 1;
        expect(read({ raw: changed, headers })).toEqual(bad);
      }
      expect(read({ raw: Buffer.alloc(0), headers })).toEqual(bad);
      const atOtherTimes = at.harness.ways.signsTime ? bad : read(delivered);
      expect(read(delivered, new Date(Date.now() + 3_600_000))).toEqual(atOtherTimes);
      expect(read(delivered, new Date(Date.now() - 3_600_000))).toEqual(atOtherTimes);
    });

    test('missing, cut, changed or foreign signatures are bad ones', () => {
      const bad = { kind: 'bad_signature' };
      const { raw, headers } = delivered;
      expect(read({ raw, headers: {} })).toEqual(bad);
      for (const [header, value] of Object.entries(headers)) {
        if (!header.startsWith('x-') || value === undefined) continue;
        for (const wrong of [undefined, '', value.slice(1), `${value}0`, '0'.repeat(128), 'ä']) {
          expect(read({ raw, headers: { ...headers, [header]: wrong } })).toEqual(bad);
        }
      }
    });

    test('reading never throws, whatever comes in', () => {
      for (const raw of ['', '{', 'null', '[1]', '\u0000\ufffd']) {
        const { headers } = delivered;
        expect(() => read({ raw: Buffer.from(raw), headers })).not.toThrow();
      }
    });
  });
}
