/**
 * Pages about clusters that come, are paused and leave, typed as they stand there.
 */
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../../src/cli/shell/waitFor.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../src/client/kubeconfig.ts'
import { SYNC_TARGETS } from '../../src/placement/words/placement.ts'
import { startHarness } from '../cli/support.ts'
import { FILE_LIMIT_MS, PATIENCE_MS } from '../support/patience.ts'
import { clientOf, gone, is, map } from '../syncer/support/installation.ts'
import { MAPS, NAMESPACES } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { noKubectl } from './support/example1.ts'
import { Terminal } from './support/terminal.ts'
import { pagesOf, sectionOf, typedIn } from './support/typedIn.ts'

const PAGE = pagesOf('clusters.md', 'syncers.md', 'recover.md')

function commandsIn(heading: string): string[] {
  const commands = typedIn(sectionOf(PAGE, heading))
  t.ok(commands.length > 0, heading)
  return commands
}

t.setTimeout(FILE_LIMIT_MS)
t.test('what the page says to type about clusters does it', { skip: noKubectl(), timeout: FILE_LIMIT_MS }, async t => {
  const harness = await startHarness(t)
  const admin = harness.kubeconfig('admin')
  const { options, base } = await loadKubeconfig(admin)
  const client = httpClient({ ...options, server: base })
  t.teardown(() => client.close())
  const inventory = client.in('root:imw1')
  const wec = join(harness.dir, 'wec')
  await new Command(t, ['simulate-wec', '--name', 'florin', '--data-dir', wec, '--secure-port', '0']).said('ready')

  /** Syncers that the page has started, in their order. */
  const syncers: Command[] = []
  const terminal = new Terminal(t, { dir: harness.dir, env: { KUBECONFIG: admin } })
  const typed: string[] = []
  /** Output of a command. It must succeed, unless another exit code is `wanted`. */
  const type = async (command: string, wanted = 0): Promise<string> => {
    const here = command
      .replaceAll(/https:\/\/(HOST:PORT|orrery\.example\.org:6443)/g, harness.url)
      .replaceAll('/var/lib/orrery-syncer', join(harness.dir, 'state'))
      .replaceAll(/(?<= |=)florin\.kubeconfig/g, join(wec, 'admin.kubeconfig'))
    typed.push(here)
    if (here.startsWith('orrery syncer --')) {
      syncers.push(await terminal.start(here, 'the mailbox is known'))
      return ''
    }
    const { code, out, err } = await terminal.run(here)
    t.equal(code, wanted, `${here}\n${out}\n${err}`)
    return `${out}\n${err}`
  }
  const typeAll = async (heading: string): Promise<string[]> => {
    const said = []
    for (const command of commandsIn(heading)) said.push(await type(command))
    return said
  }

  await type('kubectl ws root')
  const arrivals = commandsIn('## Bring a cluster in')
  const arrival = await typeAll('## Bring a cluster in')
  t.match(arrival.at(-1), /synctarget.*florin .*\n.*\n.*location.*florin +[01] +1 /s)

  await type('kubectl ws create shops --type root:workload')
  const consents = await typeAll('## Let a space place')
  t.match(
    consents[1],
    /shops +root:shops +env=prod +shop-\*,common +configmaps,services,deployments.apps|shops +root:shops +env=prod/,
  )
  t.match(consents[2], 'placementgrant.edge.kubestellar.io "shops" deleted')
  t.match(consents.at(-1), /inventorybinding.*imw1 +root:imw1 /)

  const wds = client.in('root:wmw1')
  await wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await wds.create(
    { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'edgeplacements' },
    {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'EdgePlacement',
      metadata: { name: 'p' },
      spec: { locationSelectors: [{}], downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['shop'] }] },
    },
  )
  await wds.create(MAPS, map('page', { x: '1' }))
  const cluster = await clientOf(t, join(wec, 'admin.kubeconfig'))
  const page = { namespace: 'shop', name: 'page' }
  await until(cluster, MAPS, page, is('data', { x: '1' }))

  const [enter = '', pause = '', wait = '', resume = '', ...more] = commandsIn('## Pause a cluster')
  t.same(more, [])
  for (const command of [enter, pause, wait]) await type(command)
  await wds.patch(MAPS, page, 'merge', { data: { x: '2' } })
  await type(resume)
  await until(cluster, MAPS, page, is('data', { x: '2' }))

  t.equal(await syncers[0]!.end(), 0)
  t.match(await typeAll('## Which mailbox a cluster is served from'), [
    /^the cluster is served from the mailbox .* already/,
  ])
  await type(arrivals.find(command => command.startsWith('orrery syncer --'))!)
  await typeAll('## Refusals by a cluster')
  // by the cluster's owner; the hash stands for nothing that is held
  for (const command of commandsIn('## When something is away'))
    t.match(
      await type(command.replace('kubectl', 'kubectl --kubeconfig wec/admin.kubeconfig')),
      'orrery-syncer annotated',
    )
  const credentials = await typeAll("## Syncers' credentials")
  t.match(credentials[0], /^SYNCTARGET .*\n.*florin +True .*\(in use\)/s)
  t.match(credentials[2], 'every credential of the syncer of florin is revoked; what its cluster holds stays there')
  await type('kubectl kubestellar syncer rotate florin --imw root:imw1 --kubeconfig-output florin-syncer.kubeconfig')
  await wds.patch(MAPS, page, 'merge', { data: { x: '3' } })
  await until(cluster, MAPS, page, is('data', { x: '3' }))

  const [keep = '', remove = '', force = '', annotate = '', ...rest] = commandsIn('## Take a cluster out')
  t.same(rest, [])
  await type(keep)
  t.ok(await cluster.get(MAPS, page), 'the workload stays')
  await type('kubectl kubestellar ensure location florin --imw root:imw1 env=prod')
  const { metadata } = await inventory.get(SYNC_TARGETS, { name: 'florin' })
  await type(remove)
  await type('kubectl kubestellar ensure location florin --imw root:imw1 env=prod')
  await type(force)
  await type('kubectl kubestellar ensure location florin --imw root:imw1 env=prod')
  const anew = (await inventory.get(SYNC_TARGETS, { name: 'florin' })).metadata.uid!
  t.not(anew, metadata.uid)
  await type(annotate.replace('UID', anew))
  await inventory.delete(SYNC_TARGETS, { name: 'florin' })
  await waitFor({
    client: inventory,
    resource: SYNC_TARGETS,
    ref: { name: 'florin' },
    done: gone,
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  t.ok(typed.length > 25)
})
