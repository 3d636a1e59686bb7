/** Allocations of a space's Services: each its own, and only in spaces where Services act. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Api } from '../../support/api.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const first = await startTestServer(t, {
  more: { serviceClusterIpRange: '10.96.0.0/16', serviceNodePortRange: '30000-30999' },
})
const { api, faults } = first
const SERVICES = '/api/v1/namespaces/default/services'
const PORTS = [{ port: 80 }]
interface Spec {
  clusterIP?: string
  clusterIPs?: string[]
  ports: { nodePort?: number }[]
  healthCheckNodePort?: number
  ipFamilies?: string[]
  ipFamilyPolicy?: string
}
const specOf = (object: KubeObject): Spec => object.spec as Spec
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: PORTS, ...spec } })
const make = async (at: Api, name: string, spec: object = {}) =>
  specOf(await at.ok(at.post(SERVICES, service(name, spec))))
const refusal = async (at: Api, name: string, spec: object) => {
  const { code, body } = await at.post(SERVICES, service(name, spec))
  return `${code} ${body.message}`
}
const OUTSIDE = { type: 'NodePort' }

t.test('all at once, no two get the same address or port, and a full range says so', async t => {
  const { api } = await startTestServer(t, {
    more: { serviceClusterIpRange: '10.96.0.0/28', serviceNodePortRange: '30000-30009' },
  })
  const space = api.in(await createSpace(api, 'crowd'))
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => space.post(SERVICES, service(`s${i}`, i < 12 ? OUTSIDE : {}))),
  )
  const made = answers.filter(({ code }) => code === 201).map(({ body }) => specOf(body))
  const addresses = new Set(made.map(({ clusterIP }) => clusterIP))
  const ports = made.flatMap(({ ports }) => ports.flatMap(({ nodePort }) => nodePort ?? []))
  t.equal(addresses.size, made.length)
  t.notOk(addresses.has('10.96.0.1'), "that is the server's")
  t.equal(ports.length, new Set(ports).size)
  const refused = answers.filter(({ code }) => code !== 201)
  t.ok(refused.length >= 7, 'there are 13 addresses')
  for (const { code, body } of refused) {
    t.equal(code, 422)
    t.match(body.message, /range is full.*--service-(cluster-ip|node-port)-range/)
  }
  // Items of a refused Service are free again.
  const left = (await space.ok(space.get(SERVICES))).items.length - 1
  t.equal(left, made.length)
  for (let i = left; i < 13; i++) await make(space, `later${i}`)
  t.match(await refusal(space, 'more', {}), /422 .*failed to allocate a serviceIP: range is full/)
})

t.test(
  'a Service that is but a name holds no port, and takes what it names only when it becomes another one',
  async t => {
    const space = api.in(await createSpace(api, 'names'))
    const ports = (nodePort: number) => ({ ports: [{ port: 80, nodePort }] })
    const named = { type: 'ExternalName', externalName: 'a.example' }
    await make(space, 'holder', { ...OUTSIDE, ...ports(30_001) })
    await make(space, 'same', { ...named, ...ports(30_001) })
    await make(space, 'outside', { ...named, ...ports(80) })
    const become = async (name: string) => {
      const { code, body } = await space.patch(`${SERVICES}/${name}`, 'merge', {
        spec: { ...OUTSIDE, externalName: null },
      })
      return `${code} ${body.message}`
    }
    t.match(await become('same'), /422 .*nodePort: Invalid value: 30001: provided port is already allocated/)
    t.match(await become('outside'), /422 .*nodePort: Invalid value: 80: provided port is not in the valid range/)
    await space.ok(space.delete(`${SERVICES}/same`))
    t.match(await refusal(space, 'thief', { ...OUTSIDE, ...ports(30_001) }), /422 .*provided port is already allocated/)
    await space.ok(space.delete(`${SERVICES}/holder`))
    await make(space, 'heir', { ...OUTSIDE, ...ports(30_001) })
  },
)

t.test('the same address and port asked for at once goes to one', async t => {
  const space = api.in(await createSpace(api, 'race'))
  const spec = { ...OUTSIDE, clusterIP: '10.96.0.5', ports: [{ port: 80, nodePort: 30_005 }] }
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => space.post(SERVICES, service(`s${i}`, spec))))
  t.equal(answers.filter(({ code }) => code === 201).length, 1)
  for (const { code, body } of answers) if (code !== 201) t.match(body.message, /is already allocated/)
  const other = api.in(await createSpace(api, 'race2'))
  t.equal((await make(other, 's', spec)).clusterIP, '10.96.0.5', 'each space has its own')
})

t.test('a name that is taken, a refusal and a dry run take nothing', async t => {
  const space = api.in(await createSpace(api, 'nothing'))
  await make(space, 'a')
  const spec = { ...OUTSIDE, clusterIP: '10.96.0.6', ports: [{ port: 80, nodePort: 30_006 }] }
  t.equal((await space.post(SERVICES, service('a', spec))).code, 409)
  t.equal((await space.post(SERVICES, service('b', { ...spec, sessionAffinity: 'X' }))).code, 422)
  t.equal((await space.post('/api/v1/namespaces/nowhere/services', service('b', spec))).code, 404)
  t.equal((await space.post(`${SERVICES}?dryRun=All`, service('b', spec))).code, 201)
  const tried = specOf(await space.ok(space.post(`${SERVICES}?dryRun=All`, service('b', OUTSIDE))))
  t.strictSame([tried.clusterIP, tried.ports[0]?.nodePort], [undefined, undefined])
  t.match(await refusal(space, 'b', { clusterIP: '10.96.0.1' }), /provided IP is already allocated/)
  await make(space, 'b', spec)
  const dry = await space.post(`${SERVICES}?dryRun=All`, service('c', { clusterIP: '10.96.0.6' }))
  t.match(dry.body.message, /failed to allocate IP 10.96.0.6: provided IP is already allocated/)
})

t.test('what is not needed any more is free for the next request', async t => {
  const space = api.in(await createSpace(api, 'freed'))
  const at = (name: string) => `${SERVICES}/${name}`
  const port = (nodePort: number) => ({ ...OUTSIDE, ports: [{ port: 80, nodePort }] })
  await make(space, 'a', { ...port(30_001), clusterIP: '10.96.0.7' })
  for (let i = 0; i < 5; i++) {
    await space.ok(space.delete(at('a')))
    await make(space, 'a', { ...port(30_001), clusterIP: '10.96.0.7' })
  }
  await space.ok(space.patch(at('a'), 'merge', { spec: { type: 'ClusterIP' } }))
  await make(space, 'b', port(30_001))
  await space.ok(space.patch(at('a'), 'merge', { spec: { type: 'ExternalName', externalName: 'a.example' } }))
  await make(space, 'c', { clusterIP: '10.96.0.7' })
  await space.ok(space.patch(at('b'), 'merge', { spec: { ports: [{ port: 80, nodePort: 30_002 }] } }))
  await make(space, 'd', port(30_001))
  const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_003 }
  await make(space, 'e', { ...balanced, ports: [{ port: 80, nodePort: 30_004 }] })
  t.match(await refusal(space, 'f', port(30_003)), /provided port is already allocated/)
  await space.ok(space.patch(at('e'), 'merge', { spec: { externalTrafficPolicy: 'Cluster' } }))
  await make(space, 'f', port(30_003))
})

t.test('an update keeps what was given, and may leave it out', async t => {
  const space = api.in(await createSpace(api, 'kept'))
  const before = await make(space, 'a', OUTSIDE)
  const put = await space.ok(space.put(`${SERVICES}/a`, service('a', OUTSIDE)))
  t.strictSame(specOf(put), before)
  const applied = { apiVersion: 'v1', kind: 'Service', ...service('b', OUTSIDE) }
  const url = `${SERVICES}/b?fieldManager=me`
  const made = specOf(await space.ok(space.patch(url, 'apply', applied)))
  t.ok(made.clusterIP && made.ports[0]?.nodePort)
  t.strictSame(specOf(await space.ok(space.patch(url, 'apply', applied))), made)
  t.match(await space.patch(`${SERVICES}/a`, 'merge', { spec: { clusterIP: '10.96.0.12' } }), { code: 422 })
})

t.test('headless Services, names and other families get none', async t => {
  const space = api.in(await createSpace(api, 'none'))
  t.match(await make(space, 'headless', { clusterIP: 'None' }), {
    clusterIP: 'None',
    clusterIPs: ['None'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'RequireDualStack',
  })
  const selecting = await make(space, 'selecting', { clusterIP: 'None', selector: { a: 'b' } })
  t.match(selecting, { clusterIP: 'None', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
  t.equal((await make(space, 'name', { type: 'ExternalName', externalName: 'a.example' })).clusterIP, undefined)
  const six = await make(space, 'six', { ipFamilies: ['IPv6'] })
  t.strictSame([six.clusterIP, six.ipFamilies], [undefined, ['IPv6']])
  const said = await make(space, 'said', { clusterIP: 'fd00::5', ipFamilies: ['IPv6'] })
  t.equal(said.clusterIP, 'fd00::5')
  const again = { clusterIP: 'fd00:0::5', ipFamilies: ['IPv6'] }
  t.match(await refusal(space, 'again', again), /provided IP is already allocated/)
  const zone = { clusterIP: 'fe80::1%eth0', ipFamilies: ['IPv6'] }
  t.match(await refusal(space, 'zone', zone), /422 .*"fe80::1%eth0": must be a valid IP address/)
})

t.test('a mailbox keeps what it is told, and gives nothing', async t => {
  const name = '1234abcd-mb-11111111-1111-4111-8111-111111111111'
  await createSpace(api.in('root:espw'), name)
  const mailbox = api.in(`root:espw:${name}`)
  const bare = await make(mailbox, 'bare', OUTSIDE)
  t.strictSame(
    [bare.clusterIP, bare.ports[0]?.nodePort, bare.ipFamilies, bare.ipFamilyPolicy],
    [undefined, undefined, undefined, undefined],
  )
  const spec = { ...OUTSIDE, clusterIP: '172.30.0.9', ports: [{ port: 80, nodePort: 40_000 }] }
  t.match(await make(mailbox, 'far', spec), spec)
  t.match(await make(mailbox, 'same', spec), spec)
})

t.test(
  'after a restart what was given is still taken; Services of earlier releases get theirs when written',
  async t => {
    const space = api.in('root:freed')
    const before = specOf(await space.ok(space.get(`${SERVICES}/c`)))
    const { store } = first.server
    const key = { space: await idOf('kept'), group: '', resource: 'services', namespace: 'default', name: 'elder' }
    const elder = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'elder', namespace: 'default', uid: 'u' } }
    const spec = { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }], sessionAffinity: 'None' }
    const [head = '', tail = ''] = JSON.stringify({ ...elder, spec })
      .replace('"uid":"u"', '"uid":"u","resourceVersion":"|"')
      .split('|')
    await store.write({ key, expect: 0, mutation: { type: 'put', text: { head, tail } } })
    const { api: again } = await first.restart()
    const freed = again.in('root:freed')
    t.match(await refusal(freed, 'x', { clusterIP: before.clusterIP }), /provided IP is already allocated/)
    t.match(await refusal(freed, 'x', { ...OUTSIDE, ports: [{ port: 80, nodePort: 30_001 }] }), /already allocated/)
    const kept = again.in('root:kept')
    const labelled = await kept.ok(kept.patch(`${SERVICES}/elder`, 'merge', { metadata: { labels: { a: 'b' } } }))
    t.match(specOf(labelled), { clusterIP: /^10\.96\./, ports: [{ nodePort: Number }], ipFamilies: ['IPv4'] })
  },
)

async function idOf(name: string): Promise<string> {
  const workspace = await api.ok(api.get(`/apis/tenancy.kcp.io/v1alpha1/workspaces/${name}`))
  return (workspace.spec as { cluster: string }).cluster
}

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
