/** Dependencies of which a test uses only the given parts. Every other part is empty. */
export const withEmptyParts = <Deps extends object>(given: Partial<Deps>): Deps =>
  new Proxy(given, {
    get: (parts, name): unknown => Reflect.get(parts, name) ?? {},
  }) as Deps;
