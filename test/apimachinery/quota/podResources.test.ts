/** Requests of a Pod, by the rule as it is written. @see https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/ */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { formatQuantity } from '../../../src/apimachinery/quantity.ts'
import { podAmounts } from '../../../src/apimachinery/quota/podResources.ts'
import * as fc from '../../support/fastCheck.ts'

const NAMES = ['cpu', 'a', 'b', 'c'] as const
type Amounts = Partial<Record<(typeof NAMES)[number], number>>
interface Container {
  side: boolean
  requests: Amounts
}

const amounts = fc.record(Object.fromEntries(NAMES.map(name => [name, fc.integer({ min: 0, max: 9 })])), {
  requiredKeys: [],
}) as fc.Arbitrary<Amounts>
const containers = fc.array(fc.record({ side: fc.boolean(), requests: amounts }), { maxLength: 5 })

function plain(init: Container[], main: Container[], overhead: Amounts): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of NAMES) {
    const of = (container: Container): number => container.requests[name] ?? 0
    let sidecars = 0
    let starting = 0
    for (const container of init) {
      if (container.side) sidecars += of(container)
      starting = Math.max(starting, container.side ? sidecars : sidecars + of(container))
    }
    const running = main.reduce((sum, container) => sum + of(container), sidecars)
    const isSaid = [...init, ...main].some(({ requests }) => name in requests) || name in overhead
    if (isSaid) found[name] = String(Math.max(running, starting) + (overhead[name] ?? 0))
  }
  return found
}

t.test('containers run together, init containers one after the other beside the sidecars before them', async t => {
  const shown = (list: Container[]): object[] =>
    list.map(({ side, requests }, i) => ({
      name: `c${i}`,
      ...(side && { restartPolicy: 'Always' }),
      resources: { requests },
    }))
  fc.assert(
    fc.property(containers, containers, amounts, (init, main, overhead) => {
      const spec = { initContainers: shown(init), containers: shown(main), overhead }
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec } as KubeObject
      const found = podAmounts(pod, 'requests')
      t.same(
        Object.fromEntries([...found].map(([name, each]) => [name, formatQuantity(each)])),
        plain(init, main, overhead),
      )
    }),
  )
})

t.test('what the pod says as a whole goes before the sum, and overhead limits nothing that has no limit', async t => {
  const limits = (cpu: string) => ({ resources: { limits: { cpu } } })
  const spec = { containers: [{ name: 'c', ...limits('1') }], ...limits('5'), overhead: { cpu: '1', memory: '1Mi' } }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec } as KubeObject
  t.same(
    [...podAmounts(pod, 'limits')].map(([name, each]) => [name, formatQuantity(each)]),
    [['cpu', '6']],
  )
})
