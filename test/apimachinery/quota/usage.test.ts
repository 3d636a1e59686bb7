/** Usage of a Pod: the sum of its containers or the peak of its start, whichever is greater. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { podAmounts } from '../../../src/apimachinery/quota/podResources.ts'
import { amountsOf, amountsText } from '../../../src/apimachinery/quota/resourceList.ts'
import { countedResources, inScope, measureUsages, usageOf } from '../../../src/apimachinery/quota/usage.ts'

const PODS = { group: '', resource: 'pods' }
const cpu = (name: string, amount: string, more: object = {}): object => ({
  name,
  resources: { requests: { cpu: amount } },
  ...more,
})
const pod = (spec: object, status: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec,
  status,
})
const requested = (spec: object): string => amountsText(podAmounts(pod(spec), 'requests'))

t.test('containers add up, init containers take turns, sidecars stay', async t => {
  const containers = [cpu('a', '300m'), cpu('b', '200m')]
  t.equal(requested({ containers }), 'cpu=500m')
  t.equal(requested({ containers, initContainers: [cpu('i', '400m'), cpu('j', '100m')] }), 'cpu=500m')
  t.equal(requested({ containers, initContainers: [cpu('i', '2')] }), 'cpu=2')
  const sidecar = cpu('s', '1', { restartPolicy: 'Always' })
  t.equal(requested({ containers, initContainers: [sidecar] }), 'cpu=1500m')
  t.equal(requested({ containers, initContainers: [sidecar, cpu('i', '2')] }), 'cpu=3')
  t.equal(requested({ containers, initContainers: [cpu('i', '2'), sidecar] }), 'cpu=2')
  t.equal(requested({ containers, overhead: { cpu: '50m' } }), 'cpu=550m')
})

t.test('a Pod that has ended counts as an object only', async t => {
  const spec = { containers: [cpu('a', '1')] }
  t.equal(amountsText(usageOf(PODS, pod(spec))), 'count/pods=1,cpu=1,pods=1,requests.cpu=1')
  t.equal(amountsText(usageOf(PODS, pod(spec, { phase: 'Failed' }))), 'count/pods=1')
})

t.test('a quota names what must be looked at', async t => {
  const names = [
    'pods',
    'requests.cpu',
    'count/widgets.shop.example.com',
    'x.storageclass.storage.k8s.io/requests.storage',
  ]
  t.strictSame(countedResources(names), [
    PODS,
    { group: 'shop.example.com', resource: 'widgets' },
    { group: '', resource: 'persistentvolumeclaims' },
  ])
})

t.test('scopes', async t => {
  const quota = (spec: object): KubeObject => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: {}, spec })
  const urgent = pod({ containers: [], priorityClassName: 'urgent' })
  const matching = (expression: object) =>
    inScope(
      quota({ scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', ...expression }] } }),
      PODS,
      urgent,
    )
  t.equal(matching({ operator: 'In', values: ['urgent'] }), true)
  t.equal(matching({ operator: 'NotIn', values: ['urgent'] }), false)
  t.equal(matching({ operator: 'DoesNotExist' }), false)
  t.equal(inScope(quota({ scopes: ['NotTerminating', 'BestEffort'] }), PODS, urgent), true)
  t.equal(inScope(quota({ scopes: ['Terminating'] }), PODS, urgent), false)
  t.equal(inScope(quota({ scopes: ['BestEffort'] }), { group: '', resource: 'services' }, urgent), false)
})

t.test('many quotas are measured with one list of each kind and one look at each object', async t => {
  const quotas = Array.from({ length: 300 }, (_, i) => {
    const hard = { pods: '1', 'requests.cpu': '1', 'count/deployments.apps': '5' }
    const spec = { hard, ...(i % 2 === 0 && { scopes: ['BestEffort'] }) }
    const quota: KubeObject = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: `q${i}` }, spec }
    return { quota, hard: amountsOf(hard) }
  })
  const looks = { lists: 0, containers: 0 }
  const spec = {
    get containers() {
      looks.containers++
      return [cpu('a', '100m')]
    },
  }
  const used = await measureUsages(quotas, async ({ resource }) => {
    looks.lists++
    return resource === 'pods' ? [pod(spec), pod({ containers: [] })] : [pod({}), pod({}), pod({})]
  })
  t.equal(used.length, 300)
  t.equal(amountsText(used[0]!), 'count/deployments.apps=0,pods=1,requests.cpu=0')
  t.equal(amountsText(used[1]!), 'count/deployments.apps=3,pods=2,requests.cpu=100m')
  t.equal(looks.lists, 2)
  t.ok(looks.containers < 20, `${looks.containers}`)
})

t.test('others have their turn between names, kinds and objects, and between the scopes of quotas', async t => {
  const quotas = Array.from({ length: 10 }, (_, i) => {
    const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'NotIn', values: [`class-${i}`] }]
    const spec = { hard: { pods: '1' }, scopeSelector: { matchExpressions } }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: `q${i}` }, spec }
    return { quota, hard: amountsOf({ pods: '1' }) }
  })
  let rests = 0
  const work = { due: true, rest: async () => void rests++ }
  const used = await measureUsages(quotas, async () => Array.from({ length: 5 }, () => pod({})), work)
  t.equal(amountsText(used[9]!), 'pods=5')
  t.equal(rests, 10 + 1 + 50)
})

t.test('a quota may name tens of thousands that nobody serves: each is asked for once', async t => {
  const names = Array.from({ length: 20_000 }, (_, i) => `count/things${i}.example.com`)
  const hard = amountsOf(Object.fromEntries([...names, 'pods'].map(name => [name, '5'])))
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' } } as KubeObject
  const asked = new Set<string>()
  const [used] = await measureUsages([{ quota, hard }], async ({ group, resource }) => {
    asked.add(`${resource}.${group}`)
    return resource === 'pods' ? [pod({})] : []
  })
  t.equal(asked.size, 20_001)
  t.equal(used!.size, 20_001)
  t.equal(amountsText(new Map([...used!].filter(([, { nanos }]) => nanos > 0n))), 'pods=1')
})
