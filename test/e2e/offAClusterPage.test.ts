/** docs/off-a-cluster.md, command by command, with a cluster of which each way takes workload off, and into which it returns. */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { heldBy } from '../support/scene.ts'
import { temporaryDir } from '../support/server.ts'
import { at, gone, map, there } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { noKubectl } from './support/example1.ts'
import { FLORIN, Florin, has } from './support/florin.ts'
import { Terminal } from './support/terminal.ts'
import { sectionOf, typedIn } from './support/typedIn.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/off-a-cluster.md'), 'utf8')
const SECTIONS = [...PAGE.matchAll(/^## (.*)$/gm)].map(match => match[1]!)
const SHOP = { name: 'shop' }

t.test(
  'each way takes off what the page says, and is undone',
  { skip: noKubectl(), timeout: FILE_LIMIT_MS },
  async t => {
    const dir = temporaryDir(t)
    const { wds, cluster, inventory, kubeconfig } = await Florin.begin(t)
    const terminal = new Terminal(t, { dir, env: { KUBECONFIG: join(dir, 'kubeconfig') } })
    copyFileSync(kubeconfig, join(dir, 'kubeconfig'))
    const typed: string[] = []
    const type = (command: string): Promise<string> => {
      typed.push(command)
      return terminal.ok(command)
    }
    const commandsOf = (title: string): string[] => typedIn(sectionOf(PAGE, `## ${title}`))

    // as the page supposes: one placement, which is called shop
    const { spec } = await wds.get(PLACEMENTS, { name: 'p' })
    await wds.create(PLACEMENTS, {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'EdgePlacement',
      metadata: SHOP,
      spec,
    })
    await wds.delete(PLACEMENTS, { name: 'p' })
    await wds.create(MAPS, map('greeting', { text: 'hello' }))
    const isThere = () => until(cluster, MAPS, at('greeting'), there)
    const isGone = () => until(cluster, MAPS, at('greeting'), gone)
    await isThere()
    await until(wds, PLACEMENTS, SHOP, has('Applied', 'True', 'AllApplied'))

    t.same(SECTIONS, [
      ...[
        'Users of a cluster',
        'Drain',
        'Cordon',
        'Edit the placement',
        'Delete the placement',
        'Change labels',
        'Pause',
      ],
      'Remove the location',
    ])
    const [who = ''] = commandsOf('Users of a cluster')
    t.match(
      await type(who),
      /^1 placement of 1 space in "florin", with 2 copies; .*\n(.*\n)*root:wmw1 +shop +2 +0 +nowhere\n/,
    )

    const [drain = '', uncordon = ''] = commandsOf('Drain')
    t.match(await type(drain), /florin drained\n/)
    t.same((await cluster.list(MAPS, { namespace: 'shop', fieldSelector: 'metadata.name=greeting' })).items, [])
    await type(uncordon)
    await isThere()

    const [cordon = '', open = ''] = commandsOf('Cordon')
    t.match(await type(cordon), /florin cordoned\n/)
    t.match(await type(open), /florin uncordoned\n/)
    t.ok(await cluster.get(MAPS, at('greeting')))

    const [ws = '', keep = '', edit = '', status = '', undo = ''] = commandsOf('Edit the placement')
    await type(ws)
    await type(keep)
    t.match(await type(edit), /^Warning: /m)
    await until(wds, PLACEMENTS, SHOP, placement => placement !== undefined && heldBy(placement) !== undefined)
    t.match(await type(status), /shop +DeletionHeld/)
    t.ok(await cluster.get(MAPS, at('greeting')))
    await type(undo)
    await until(wds, PLACEMENTS, SHOP, has('DeletionHeld', 'False', 'NothingHeld'))

    const [remove = '', again = ''] = commandsOf('Delete the placement')
    await type(remove)
    await isGone()
    await type(again)
    await isThere()

    const [relabel = '', back = ''] = commandsOf('Change labels')
    await type(relabel)
    await until(wds, PLACEMENTS, SHOP, placement => placement !== undefined && heldBy(placement) !== undefined)
    await type(back)
    await until(wds, PLACEMENTS, SHOP, has('Applied', 'True', 'AllApplied'))

    const [inTheInventory = '', pause = '', resume = ''] = commandsOf('Pause')
    await type(inTheInventory)
    await type(pause)
    await until(inventory, TARGETS, FLORIN, has('Paused', 'True', 'SyncerPaused'))
    await type(resume)
    await until(inventory, TARGETS, FLORIN, has('Paused', 'False', 'NotPaused'))

    const [leave = ''] = commandsOf('Remove the location')
    t.match(await type(leave), /synctarget\.edge\.kubestellar\.io "florin" deleted\n/)
    const left: KubeObject = await cluster.get(MAPS, at('greeting'))
    t.match(left, { data: { text: 'hello' } }, 'what was placed stays')
    t.strictSame(typed, typedIn(PAGE), 'each command of the page, in its order')
  },
)
