/**
 * Watches, streams and WebSockets end with the credential or the right that opened them, on API threads, too. Those with a right that
 * remains go on.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { TokenIssuer } from '../../src/apiserver/auth/serviceAccountTokens.ts'
import { issueClient } from '../../src/apiserver/pki/issue.ts'
import { Api, type Watch } from '../support/api.ts'
import { ALICE, BOB, configMap, createSpace, startTestServer } from '../support/server.ts'

const CORE = '/api/v1/namespaces/default'
const ACCOUNT = `${CORE}/serviceaccounts/robot`
const SECRETS = `${CORE}/secrets`
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'
const MAPS = '/api/v1/configmaps?watch=1'
const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const TEAM = `${ALICE},alice,u-1,team\n${BOB},bob,u-2\n`

/** Open reads, and how each ends. */
interface Open {
  ends: Record<string, Promise<string>>
}

/** The last line that was no object, and that nothing comes behind it. */
async function endOf(watch: Watch): Promise<string> {
  const last = (await watch.rest()).at(-1)
  return last?.type === 'ERROR' ? `ERROR ${(last.object as unknown as { code: number }).code}` : 'end'
}

function overWebSocket(api: Api, path: string): Promise<{ end: Promise<string> }> {
  const { url, token, ...keys } = api.access
  const headers = { Authorization: `Bearer ${token}` }
  const socket = new WebSocket(url.replace('https', 'wss') + path, { ...keys, ...(token && { headers }) })
  const { promise: end, resolve } = Promise.withResolvers<string>()
  let last = 'end'
  socket.on('message', data => {
    const { type, object } = JSON.parse(String(data))
    last = type === 'ERROR' ? `ERROR ${object.code}` : 'end'
  })
  socket.on('close', () => resolve(last))
  return new Promise((opened, failed) => {
    socket.once('error', failed)
    socket.once('open', () => opened({ end }))
  })
}

/** The scenes, each a test of its own. */
export async function endedAccess(t: Test, apiThreads: number): Promise<void> {
  const { api, dataDir, faults } = await startTestServer(t, { more: { apiThreads, tokenFile: TEAM } })
  let spaces = 0

  /** A space with a ServiceAccount that may do everything, a witness who may so by a binding of their own, and what a test adds. */
  async function scene(t: Test) {
    const name = `s${apiThreads}-${spaces++}`
    const space = await createSpace(api, name)
    const at = api.in(space)
    const make = (path: string, object: object) => at.ok(at.post(path, object))
    const bind = (name: string, role: string, subject: object) =>
      make(`${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: GROUP, ...subject }],
      })
    await make(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })
    await make(`${RBAC}/clusterroles`, { metadata: { name: 'all' }, rules: [EVERYTHING] })
    await bind('robot', 'all', { apiGroup: '', kind: 'ServiceAccount', name: 'robot', namespace: 'default' })
    await bind('bob', 'cluster-admin', { kind: 'User', name: 'bob' })
    const token = async (spec: object = {}) =>
      ((await make(`${ACCOUNT}/token`, { spec })).status as unknown as { token: string }).token
    const clients: Api[] = []
    t.teardown(() => {
      for (const client of clients) client.close()
    })
    const who = (by: string | Api): Api => {
      const client = typeof by === 'string' ? api.as(by) : by
      clients.push(client)
      return client.in(space)
    }
    /** In all ways that there are. */
    const open = async (client: Api, path = MAPS): Promise<Open> => ({
      ends: {
        watch: endOf(await client.watch(path)),
        socket: (await overWebSocket(client, `/clusters/${space}${path}`)).end,
        ...(path === MAPS && {
          stream: endOf(await api.as(client.access.token).watch(`/services/stream/clusters/${space}`)),
          streamSocket: (await overWebSocket(client, `/services/stream/clusters/${space}`)).end,
        }),
      },
    })
    const witness = await who(BOB).watch(MAPS)
    let heard = 0
    /** A right that remains shows the object behind the change. */
    const goesOn = async (t: Test, watch = witness): Promise<void> => {
      const name = `behind-${heard++}`
      await make(`${CORE}/configmaps`, configMap(name) as never)
      await watch.until(({ object }) => object.metadata.name === name)
      t.pass('a right that remains shows what comes')
    }
    return { at, name, space, make, bind, token, who, open, goesOn }
  }

  async function ended(t: Test, { ends }: Open, code: number): Promise<void> {
    for (const [way, end] of Object.entries(ends))
      t.equal(await end, way.startsWith('stream') ? 'end' : `ERROR ${code}`, way)
  }

  const pod = (more: object = {}) => ({
    metadata: { name: 'pod', ...more },
    spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] },
  })
  type Scene = Awaited<ReturnType<typeof scene>>
  const boundTo = (kind: string, name: string) => ({ spec: { boundObjectRef: { apiVersion: 'v1', kind, name } } }).spec
  const ways: Record<
    string,
    { code: number; token?(scene: Scene): Promise<string>; end(scene: Scene): Promise<unknown> }
  > = {
    'the account is deleted': { code: 401, end: ({ at }) => at.delete(ACCOUNT) },
    'the Secret of the token is deleted': {
      code: 401,
      token: async ({ make, token }) => {
        await make(SECRETS, { metadata: { name: 'bound' } })
        return token(boundTo('Secret', 'bound'))
      },
      end: ({ at }) => at.delete(`${SECRETS}/bound`),
    },
    'the Pod of the token is deleted': {
      code: 401,
      token: async ({ make, token }) => {
        await make(`${CORE}/pods`, pod())
        return token(boundTo('Pod', 'pod'))
      },
      end: ({ at }) => at.delete(`${CORE}/pods/pod?gracePeriodSeconds=0`),
    },
    'the Pod of the token is past its grace period, and still there': {
      code: 401,
      token: async ({ make, token }) => {
        await make(`${CORE}/pods`, { ...pod({ finalizers: ['a.b/c'] }), spec: { ...pod().spec, nodeName: 'n' } })
        return token(boundTo('Pod', 'pod'))
      },
      end: ({ at }) => at.delete(`${CORE}/pods/pod?gracePeriodSeconds=1`),
    },
    'the token of a Secret becomes another': {
      code: 401,
      token: async ({ make, at }) => {
        const annotations = { 'kubernetes.io/service-account.name': 'robot' }
        const watch = await at.watch(`${SECRETS}?watch=1&resourceVersion=0`)
        await make(SECRETS, { metadata: { name: 'old', annotations }, type: 'kubernetes.io/service-account-token' })
        const [{ object }] = (
          await watch.until(({ object }) => Boolean((object.data as { token?: string })?.token))
        ).slice(-1) as [never]
        watch.close()
        return Buffer.from((object as { data: { token: string } }).data.token, 'base64').toString()
      },
      end: ({ at }) => at.patch(`${SECRETS}/old`, 'merge', { data: { token: 'eA==' } }),
    },
    'the binding is deleted': { code: 403, end: ({ at }) => at.delete(`${RBAC}/clusterrolebindings/robot`) },
    'the binding names it no more': {
      code: 403,
      end: ({ at }) => at.patch(`${RBAC}/clusterrolebindings/robot`, 'merge', { subjects: [] }),
    },
    'the role is deleted': { code: 403, end: ({ at }) => at.delete(`${RBAC}/clusterroles/all`) },
    'the role allows less': {
      code: 403,
      end: ({ at }) =>
        at.patch(`${RBAC}/clusterroles/all`, 'merge', { rules: [{ ...EVERYTHING, verbs: ['get', 'list'] }] }),
    },
  }
  for (const [what, { code, token, end }] of Object.entries(ways)) {
    t.test(what, async t => {
      const here = await scene(t)
      const { at, who, open, goesOn } = here
      const robot = await open(who(await (token ? token(here) : here.token())))
      await at.ok(end(here) as never).catch(() => {})
      await ended(t, robot, code)
      await goesOn(t)
    })
  }

  t.test('a role of a group, and a role in one namespace, for one kind', async t => {
    const { at, make, bind, who, open, goesOn } = await scene(t)
    await bind('enter', 'system:kcp:workspace:access', { kind: 'Group', name: 'team' })
    const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['watch'] })
    await make(`${RBAC}/namespaces/default/roles`, {
      metadata: { name: 'two' },
      rules: [rule('configmaps'), rule('secrets')],
    })
    await make(`${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name: 'two' },
      roleRef: { apiGroup: GROUP, kind: 'Role', name: 'two' },
      subjects: [{ apiGroup: GROUP, kind: 'Group', name: 'team' }],
    })
    const alice = who(ALICE)
    const secrets = await open(alice, `${SECRETS}?watch=1`)
    const maps = await alice.watch(`${CORE}/configmaps?watch=1`)
    await at.ok(at.patch(`${RBAC}/namespaces/default/roles/two`, 'merge', { rules: [rule('configmaps')] }))
    await ended(t, secrets, 403)
    await goesOn(t, maps)
    const rest = await open(alice, `${CORE}/configmaps?watch=1`)
    await at.ok(at.delete(`${RBAC}/namespaces/default/rolebindings/two`))
    await ended(t, rest, 403)
    await goesOn(t)
    maps.close()
  })

  t.test('the right to enter a space, and the right to act as somebody', async t => {
    const { at, bind, make, space, who, open, goesOn } = await scene(t)
    await bind('enter', 'system:kcp:workspace:access', { kind: 'User', name: 'alice' })
    await bind('alice', 'all', { kind: 'User', name: 'alice' })
    const direct = await open(who(ALICE))
    await at.ok(at.delete(`${RBAC}/clusterrolebindings/enter`))
    await ended(t, direct, 403)
    const acts = { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['bob'] }
    await bind('enter', 'system:kcp:workspace:access', { kind: 'User', name: 'alice' })
    await make(`${RBAC}/clusterroles`, { metadata: { name: 'acts' }, rules: [acts] })
    await at.ok(at.delete(`${RBAC}/clusterrolebindings/alice`))
    await bind('acts', 'acts', { kind: 'User', name: 'alice' })
    const asBob = endOf(await api.as(ALICE).in(space).watch(MAPS, { 'Impersonate-User': 'bob' }))
    await at.ok(at.delete(`${RBAC}/clusterrolebindings/acts`))
    t.equal(await asBob, 'ERROR 403')
    await goesOn(t)
  })

  t.test('the space is deleted', async t => {
    const { name, who, open } = await scene(t)
    const { ends } = await open(who(BOB))
    await api.ok(api.delete(`/apis/tenancy.kcp.io/v1alpha1/workspaces/${name}`))
    for (const [way, end] of Object.entries(ends)) t.match(await end, /^(end|ERROR 40[34])$/, way)
  })

  t.test('a token and a certificate that end by their age', async t => {
    const { at, space, bind, who, goesOn } = await scene(t)
    await bind('carol', 'cluster-admin', { kind: 'User', name: 'carol' })
    const pem = (file: string): string => readFileSync(join(dataDir, 'pki', file), 'utf8')
    const ca = { certPem: pem('ca.crt'), keyPem: pem('ca.key') }
    const lifetime = { nowMs: Date.now(), days: 2 / 86_400 }
    const { certPem, keyPem } = await issueClient({ ca, commonName: 'carol', organizations: [], ...lifetime })
    const carol = new Api({ url: api.access.url, ca: api.access.ca!, cert: certPem, key: keyPem })
    const serviceAccount = { namespace: 'default', name: 'robot', uid: (await at.ok(at.get(ACCOUNT))).metadata.uid! }
    const issuer = new TokenIssuer({ clock: Date.now, signingKeyPem: pem('sa.key'), url: () => api.access.url })
    const token = await issuer.issue({ space, serviceAccount, expirationSeconds: 2 })
    // whoever is too late for it, as on a busy machine, is refused
    const endOrRefusal = (watch: Promise<Watch>) => watch.then(endOf, error => /refused: 401/.exec(error.message)?.[0])
    const ends = [
      endOrRefusal(who(token).watch(MAPS)),
      endOrRefusal(who(carol).watch(MAPS)),
      endOrRefusal(api.as(token).watch(`/services/stream/clusters/${space}`)),
      endOrRefusal(carol.watch(`/services/stream/clusters/${space}`)),
    ]
    for (const end of await Promise.all(ends)) t.match(end, /^(end|ERROR 401|refused: 401)$/)
    await goesOn(t)
  })

  t.test('nothing ends by what is unrelated', async t => {
    const { at, make, bind, token, who, goesOn } = await scene(t)
    const robot = await who(await token()).watch(MAPS)
    const other = await scene(t)
    // somebody who ends tells that the round in which all were judged is over
    await bind('enter', 'cluster-admin', { kind: 'User', name: 'alice' })
    const alice = endOf(await who(ALICE).watch(MAPS))
    await other.at.ok(other.at.delete(ACCOUNT))
    await make(SECRETS, { metadata: { name: 'other' } })
    await at.ok(at.delete(`${SECRETS}/other`))
    await make(`${CORE}/serviceaccounts`, { metadata: { name: 'second' } })
    await at.ok(at.delete(`${CORE}/serviceaccounts/second`))
    await at.ok(at.patch(`${RBAC}/clusterroles/all`, 'merge', { rules: [EVERYTHING, EVERYTHING] }))
    await at.ok(at.delete(`${RBAC}/clusterrolebindings/enter`))
    t.equal(await alice, 'ERROR 403')
    await goesOn(t, robot)
    await goesOn(t)
    robot.close()
  })

  t.test('who sees fewer Workspaces than before lists again', async t => {
    const { at, bind, make, who } = await scene(t)
    const workspaces = { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['*'] }
    await bind('enter', 'system:kcp:workspace:access', { kind: 'User', name: 'alice' })
    await make(`${RBAC}/clusterroles`, { metadata: { name: 'sees' }, rules: [workspaces] })
    await bind('sees', 'sees', { kind: 'User', name: 'alice' })
    const watch = endOf(await who(ALICE).watch('/apis/tenancy.kcp.io/v1alpha1/workspaces?watch=1'))
    await at.ok(
      at.patch(`${RBAC}/clusterroles/sees`, 'merge', { rules: [{ ...workspaces, verbs: ['list', 'watch'] }] }),
    )
    t.equal(await watch, 'ERROR 410')
  })

  t.test('nothing of it was a fault of the server', async t => t.same(faults, []))
}
