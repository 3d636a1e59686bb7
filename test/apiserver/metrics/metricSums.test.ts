/** Metrics of several threads are one server's. */
import t from 'tap'
import { countersOf, sumMetrics } from '../../../src/apiserver/metrics/metricSums.ts'

const text = (...lines: string[]): string => `${lines.join('\n')}\n`
const GAUGE = ['# HELP open How many are open.', '# TYPE open gauge']
const COUNTER = ['# HELP seen_total How many came.', '# TYPE seen_total counter']
const HISTOGRAM = ['# HELP took How long.', '# TYPE took histogram']

t.test('samples of the same name and labels are added, others stand beside them', async t => {
  const one = text(...GAUGE, 'open{kind="a b"} 2', '', ...COUNTER, 'seen_total 7', 'seen_total{of="x"} 1')
  const other = text(...COUNTER, 'seen_total 0.5', 'seen_total{of="y"} 3', ...GAUGE, 'open{kind="a b"} 1')
  t.equal(
    sumMetrics([one, other]),
    text(...GAUGE, 'open{kind="a b"} 3', ...COUNTER, 'seen_total 7.5', 'seen_total{of="x"} 1', 'seen_total{of="y"} 3'),
  )
  t.equal(sumMetrics(['', other, '']), sumMetrics([other]))
})

t.test('what no sum tells anything of is that of the first', async t => {
  const name = 'apiserver_flowcontrol_seat_fair_frac'
  const of = (value: number): string => text(`# HELP ${name} .`, `# TYPE ${name} gauge`, `${name} ${value}`)
  t.equal(sumMetrics([of(0.5), of(1)]), of(0.5))
})

t.test('of who is gone only what went up is kept', async t => {
  const counters = [...COUNTER, 'seen_total 7', ...HISTOGRAM, 'took_bucket{le="1"} 2', 'took_sum 0.5', 'took_count 2']
  t.equal(countersOf(text(...GAUGE, 'open 2', ...counters, ...GAUGE, 'open 1')), text(...counters))
})
