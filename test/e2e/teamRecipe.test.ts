/**
 * The recipe of docs/users.md for a team of its own, as it stands there: the administrator's part as the administrator, the member's as a
 * member. Then what the team may not.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { WORKSPACES } from '../../src/apimachinery/resources.ts'
import { waitFor } from '../../src/cli/shell/waitFor.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { startHarness } from '../cli/support.ts'
import type { Ran } from '../support/orrery.ts'
import { FILE_LIMIT_MS, PATIENCE, PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { noKubectl } from './support/example1.ts'
import { Terminal } from './support/terminal.ts'

const ROOT = join(import.meta.dirname, '../..')
const TOKENS = 'token-of-mia,mia,u-1,"shops"\ntoken-of-lea,lea,u-2,"shops-leads"\ntoken-of-sam,sam,u-3,"others"\n'
const EDGE = 'edge.kubestellar.io/v2alpha1'

/** The recipe's commands: who makes it possible, who works. */
function recipe(): string[] {
  const text = readFileSync(join(ROOT, 'docs/users.md'), 'utf8')
  const [section = ''] = (text.split('\n## A team of its own\n')[1] ?? '').split(/\n## /)
  return [...section.matchAll(/```sh\n(.*?)```/gs)].map(match => match[1]!)
}

t.test(
  'a team has what it needs by the recipe, and nothing more',
  { skip: noKubectl(), timeout: FILE_LIMIT_MS },
  async t => {
    const tokens = join(temporaryDir(t), 'tokens')
    writeFileSync(tokens, TOKENS)
    const harness = await startHarness(t, ['--token-auth-file', tokens])
    const admin = harness.kubeconfig('admin')
    const { options, base } = await loadKubeconfig(admin)
    const client = httpClient({ ...options, server: base })
    t.teardown(() => client.close())

    const terminal = new Terminal(t, { dir: harness.dir })
    const sh = (script: string, who: string): Promise<Ran> => {
      terminal.env.KUBECONFIG = who
      return terminal.run(script)
    }
    const kubeconfigOf = (user: string): string => {
      const path = join(harness.dir, user)
      const config = {
        clusters: [{ name: 'c', cluster: { server: `${base}/clusters/root`, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: { token: `token-of-${user}` } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'c',
      }
      writeFileSync(path, JSON.stringify(config))
      return path
    }
    const [mia, lea, sam] = [kubeconfigOf('mia'), kubeconfigOf('lea'), kubeconfigOf('sam')]

    for (const [name, env] of [
      ['florin', 'prod'],
      ['guilder', 'test'],
    ]) {
      const labels = `env=${env}`
      t.match(await sh(`kubectl kubestellar ensure location ${name} --imw root:imw1 ${labels}`, admin), { code: 0 })
    }
    const [prepare = '', work = '', credentials = '', ofApps = '', ...more] = recipe()
    t.same(more, [], 'the recipe has four parts')
    t.match(await sh(prepare, admin), { code: 0, err: '' })
    t.match((await client.in('root:imw1').get(edge('placementgrants'), { name: 'shops' })).spec, {
      spaces: [{ path: 'root:shops' }],
      namespaces: ['shop', 'shop-*'],
      clusterScoped: undefined,
      grantingKinds: undefined,
    })

    t.match(await sh(work, mia), { code: 0, out: /edgeplacement\.edge\.kubestellar\.io\/prices created/, err: '' })
    const slice = await waitFor({
      client: client.in('root:shops'),
      resource: edge('singleplacementslices'),
      ref: { name: 'prices' },
      done: found => found !== undefined,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const destinations = slice.object?.destinations as { locationName: string; syncTargetUID: string }[]
    t.same(
      destinations.map(({ locationName }) => locationName),
      ['florin'],
    )
    const { items } = await client.in('root:espw').list(WORKSPACES)
    const mailbox = items.find(({ metadata }) => metadata.name?.endsWith(destinations[0]!.syncTargetUID))
    const arrived = await waitFor({
      client: client.in(`root:espw:${mailbox?.metadata.name}`),
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      ref: { namespace: 'shop', name: 'prices' },
      done: found => found !== undefined,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    t.match(arrived, { reached: true, object: { data: { coffee: '2.40' } } })

    const account = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'ci', namespace: 'default', labels: { 'edge.kubestellar.io/natured': 'true' } },
    }
    await client.in('root:shops').create({ group: '', version: 'v1', resource: 'serviceaccounts' }, account)
    t.match(await sh(`kubectl ws root:shops\n${credentials}`, admin), { code: 0 })
    t.match(
      readFileSync(join(harness.dir, 'shops.kubeconfig'), 'utf8'),
      /oidc-login[\s\S]*--oidc-issuer-url=https:\/\/id\.example\.org/,
    )
    const [, claims = ''] =
      /token: "?\w+-?[^.]*\.([\w-]+)\./.exec(readFileSync(join(harness.dir, 'ci.kubeconfig'), 'utf8')) ?? []
    t.match(JSON.parse(Buffer.from(claims, 'base64url').toString()), { sub: 'system:serviceaccount:default:ci' })

    const apply = (...objects: object[]) =>
      objects.map(object => `kubectl apply -f - <<< '${JSON.stringify(object)}'`).join('\n')
    const group = 'shop.example.org'
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `tills.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'tills', singular: 'till', kind: 'Till' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }
    const role = (rule: object, labels: object = {}) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'till', namespace: 'shop', labels },
      rules: [{ verbs: ['get'], ...rule }],
    })
    const till = { apiVersion: `${group}/v1`, kind: 'Till', metadata: { name: 'one', namespace: 'shop' } }
    const impersonates = role({ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] })
    t.match(await sh(apply(definition), mia), { code: 1, err: /customresourcedefinitions/ }, 'not before')
    t.match(await sh(ofApps, admin), { code: 0 })
    t.match(
      await sh(
        `${apply(definition)}
      kubectl wait crd/tills.${group} --for=condition=Established --timeout=${PATIENCE}
      ${apply(till, impersonates)}`,
        mia,
      ),
      { code: 0, out: /till\..*\/one created\nrole\..*\/till created/ },
      'an app brings its kinds and Roles, which describe',
    )
    const acting = {
      ...impersonates,
      metadata: { ...impersonates.metadata, labels: { 'edge.kubestellar.io/natured': 'true' } },
    }
    t.match(await sh(apply(acting), mia), { code: 1, err: /attempting to grant RBAC permissions not currently held/ })
    const all = { namespaces: ['shop'], labelSelectors: [{ matchLabels: { app: 'shop' } }] }
    const wide = (downsync: object[]) => ({
      apiVersion: EDGE,
      kind: 'EdgePlacement',
      metadata: { name: 'all' },
      spec: { downsync },
    })
    t.match(await sh(apply(wide([{ ...all, apiGroup: '', resources: ['nodes'] }])), mia), {
      code: 1,
      err: /name only kinds, namespaces and objects that you may get and list; or ask an administrator of this space for a role/,
    })
    t.match(await sh(apply(wide([all])), mia), {
      code: 0,
      err: /Warning: spec\.downsync\[0\] selects only kinds that its author may get and list; it skips /,
    })
    const placed = await client.in('root:shops').get(edge('edgeplacements'), { name: 'all' })
    const record = placed.metadata.annotations?.['edge.kubestellar.io/selected-kinds']
    t.match(record, /"\*\.shop\.example\.org".*"configmaps".*"roles\.rbac\.authorization\.k8s\.io".*"secrets"/)

    const tree = await sh('kubectl ws root:shops\nkubectl ws tree', mia)
    t.match(
      tree,
      { code: 0, out: /\n└── shops \(you may not list workspaces here\)\n$/ },
      'a space that one may enter is not closed',
    )

    // names of Locations with their labels, and no more of the inventory
    const seen = await sh('kubectl get grantedlocations --show-labels', mia)
    t.match(seen, { code: 0, out: /florin.*env=prod/ })
    t.notMatch(seen.out, 'guilder', 'what is not granted is not listed')

    const binding = `kubectl apply -f - <<< '{"apiVersion":"${EDGE}","kind":"InventoryBinding","metadata":{"name":"x"},"spec":{"path":"root:other"}}'`
    const refused = async (script: string, who: string, why: RegExp) =>
      t.match(await sh(script, who), { code: 1, err: why }, script)
    await refused(binding, mia, /cannot create resource "inventorybindings"/)
    await refused('kubectl kubestellar grant --imw root:imw1 root:shops', mia, /denied|forbidden|Forbidden/)
    await refused('kubectl get secrets -n default --as=system:admin', mia, /cannot impersonate/)
    await refused('kubectl ws root:wmw1', mia, /workspace "root:wmw1" not found, or closed to you/)
    await refused('kubectl ws root:imw1', mia, /workspace "root:imw1" not found, or closed to you/)
    await refused('kubectl ws root:shops', sam, /workspace "root:shops" not found, or closed to you/)
    await refused('kubectl kubestellar grant --imw root:imw1 root:shops', lea, /denied|forbidden|Forbidden/)
    t.match(await sh(`kubectl ws root:shops\n${binding}`, lea), { code: 0 }, 'who leads the team chooses inventories')

    t.match(await sh('kubectl kubestellar kubeconfig --for ida --space root:shops', admin), { code: 0, err: '' })
    const ida = join(harness.dir, 'ida.kubeconfig')
    t.match(await sh('kubectl get edgeplacement prices -o name', ida), { code: 0, out: /edgeplacement.*\/prices/ })
    t.match(await sh(`kubectl get namespaces --server=${base}/clusters/root:wmw1`, ida), {
      code: 1,
      err: /forbidden|Forbidden/,
    })

    // of the inventory that is not there, nothing is taken back
    const removed = await sh('kubectl kubestellar remove team shops', admin)
    t.match(removed, {
      code: 0,
      out: 'workspace.tenancy.kcp.io "shops" deleted\nplacementgrant.edge.kubestellar.io "shops" deleted\n',
      err: /^This deletes team "shops": .*EdgePlacements .*prices.* in the clusters florin; PlacementGrant shops in root:imw1\.\n$/,
    })
  },
)

function edge(resource: string) {
  return { group: 'edge.kubestellar.io', version: 'v2alpha1', resource }
}
