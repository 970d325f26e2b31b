import type { Point } from './report.js';

/** The services by the names of their subjects, in the order of the legend, with colours that colour-blind readers can tell apart. */
const SERVICES: Record<string, { title: string; color: string }> = {
  ours: { title: 'Bursar', color: '#0072b2' },
  'one process': { title: 'Bursar, one process', color: '#56b4e9' },
  dbos: { title: 'DBOS', color: '#e69f00' },
  restate: { title: 'Restate', color: '#009e73' },
  bare: { title: 'bare Temporal', color: '#cc79a7' },
  naive: { title: 'naive', color: '#7f7f7f' },
};

type Vega = {
  parse: (spec: unknown) => unknown;
  View: new (runtime: unknown, options: { renderer: 'none' }) => { toSVG: () => Promise<string> };
};
type VegaLite = { compile: (spec: unknown) => { spec: unknown } };

/**
 * Draws throughput and latency of each service against what is in flight, as SVG. Vega-Lite is not among this
 * repository's packages: `load` loads a package of the benches.
 */
export async function drawTransfers(
  points: readonly Point[],
  load: (name: string) => Promise<unknown>,
): Promise<string> {
  const [vega, vegaLite] = (await Promise.all(['vega', 'vega-lite'].map(load))) as [Vega, VegaLite];
  const known = Object.entries(SERVICES).filter(([name]) =>
    points.some(({ service }) => service === name),
  );
  const values = known.flatMap(([name, { title }]) =>
    points.filter(({ service }) => service === name).map((point) => ({ ...point, service: title })),
  );
  const chart = (field: 'perSecond' | 'p50Ms', title: string) => ({
    title,
    width: 340,
    height: 260,
    mark: { type: 'line', point: true },
    encoding: {
      x: {
        field: 'inFlight',
        type: 'quantitative',
        scale: { type: 'log', base: 2 },
        axis: { title: 'in flight', values: points.map(({ inFlight }) => inFlight), grid: false },
      },
      y: { field, type: 'quantitative', scale: { type: 'log' }, axis: { title: null } },
      color: {
        field: 'service',
        type: 'nominal',
        sort: null,
        legend: { title: null },
        scale: {
          domain: known.map(([, { title: name }]) => name),
          range: known.map(([, { color }]) => color),
        },
      },
    },
  });
  const { spec } = vegaLite.compile({
    background: 'white',
    data: { values },
    hconcat: [chart('perSecond', 'completed a second'), chart('p50Ms', 'p50 to completed, ms')],
  });
  return new vega.View(vega.parse(spec), { renderer: 'none' }).toSVG();
}
