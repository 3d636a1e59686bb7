/** docs/backup.md, command by command. The archive is older than the last edits and creations. Clusters lose nothing, and reports are true. */
import { copyFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { at as field } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { CONFIRM_DELETION_ANNOTATION } from '../../src/placement/words/placement.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { orreryHere as run } from '../support/runHere.ts'
import { temporaryDir } from '../support/server.ts'
import { at, gone, is, map, there } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { FLORIN, Florin, has, RECORD } from './support/florin.ts'
import { Terminal } from './support/terminal.ts'
import { pagesOf, sectionOf, typedIn } from './support/typedIn.ts'

const PAGE = pagesOf('backup.md')
/** `CLUSTERS=20` joins as many, each with a syncer of its own. */
const COUNT = Number(process.env.CLUSTERS ?? 2)
const OTHERS = ['guilder', ...Array.from({ length: COUNT - 2 }, (_, i) => `cluster-${i + 3}`)]
const held = (object: KubeObject | undefined): unknown => field(object?.status, 'outcome', 'heldDeletions')
const holds =
  (count: number) =>
  (object: KubeObject | undefined): boolean =>
    (field(held(object), 'objects') ?? 0) === count

t.setTimeout(FILE_LIMIT_MS)

t.test('clusters outlive a restore of their center', { timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const terminal = new Terminal(t, { dir, env: { KUBECONFIG: join(dir, 'admin.kubeconfig') } })
  /** Output of the commands of a section, in order. */
  const type = async (section: string): Promise<string> => {
    const { code, out, err } = await terminal.run(typedIn(sectionOf(PAGE, `## ${section}`)).join('\n'))
    t.equal(code, 0, `${section}\n${err}`)
    return out
  }
  const florin = await Florin.begin(t)
  const { wds, inventory, mailbox } = florin
  const clusters = [florin.cluster]
  for (const name of OTHERS) clusters.push((await florin.join(name, { env: 'prod' })).cluster)
  const refs = [FLORIN, ...OTHERS.map(name => ({ name }))]
  const everywhere = async (name: string, test: (object: KubeObject | undefined) => boolean): Promise<void> => {
    for (const cluster of clusters) await until(cluster, MAPS, at(name), test)
  }
  await wds.create(MAPS, map('deleted', { x: '1' }))
  await everywhere('deleted', there)
  await everywhere('page', is('data', { x: '1' }))
  await copyFile(florin.kubeconfig, join(dir, 'admin.kubeconfig'))
  t.match(await type('Take a backup'), /^wrote center\.orrery: [\s\S]*\nwhole: /)
  t.match(await type('Rights'), /created/)
  t.match(await run('restore', 'status', '--kubeconfig', florin.kubeconfig), {
    code: 0,
    out: /^no restore is unsettled\n$/,
  })

  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '2' } })
  await wds.create(MAPS, map('first', { x: '1' }))
  await wds.create(MAPS, map('second', { x: '1' }))
  await wds.delete(MAPS, at('deleted'))
  await everywhere('page', is('data', { x: '2' }))
  await everywhere('first', there)
  await everywhere('second', there)
  await everywhere('deleted', gone)

  // one syncer goes on and knows what it was sent; the other one begins anew and knows what its cluster holds
  await florin.syncer.end()
  await florin.endCenter()
  const dataDir = dirname(florin.kubeconfig)
  await rm(dataDir, { recursive: true })
  t.match(await type('Restore'), /^restored \d+ objects into restored/)
  await rename(join(dir, 'restored'), dataDir)
  await florin.startCenter()
  const begunMs = performance.now()
  await florin.serve(mailbox)

  t.comment('the clusters hold what the archive says, and what it does not know')
  await everywhere('page', is('data', { x: '1' }))
  await everywhere('deleted', there)
  for (const ref of refs) {
    const target = await until(inventory, TARGETS, ref, holds(2))
    t.match(held(target), { examples: ['configmaps shop/first', 'configmaps shop/second'] })
  }
  for (const cluster of clusters) for (const name of ['first', 'second']) t.ok(await cluster.get(MAPS, at(name)))
  await until(wds, PLACEMENTS, { name: 'p' }, has('Applied', 'True', 'AllApplied'))
  await until(wds, PLACEMENTS, { name: 'p' }, has('RestoreUnsettled', 'True', 'DeletionHeld'))
  t.comment(
    `${clusters.length} clusters are known ${Math.round(performance.now() - begunMs)} ms after the restored center is ready`,
  )
  const status = await run('restore', 'status', '--kubeconfig', florin.kubeconfig)
  t.match(status, { code: 1, out: /^restored .* from an archive of .*: clusters keep what it does not know$/m })
  for (const { name } of refs)
    t.match(
      status.out,
      new RegExp(
        `^${name} \\(.*\\): holds 2: configmaps shop/first, configmaps shop/second\\n .*confirm-deletion=`,
        'm',
      ),
    )

  t.comment('what is made again is held no more, and the rest goes when it is confirmed')
  await wds.create(MAPS, map('first', { x: '3' }))
  await everywhere('first', is('data', { x: '3' }))
  for (const [i, ref] of refs.entries()) {
    const message = (object: KubeObject | undefined): string => String(field(held(object), 'message'))
    const target = await until(
      inventory,
      TARGETS,
      ref,
      object => holds(1)(object) && message(object).startsWith('1 objects'),
    )
    const confirmed = /confirm-deletion=(\w+)/.exec(message(target))?.[1]
    const annotations = { [CONFIRM_DELETION_ANNOTATION]: confirmed }
    await clusters[i]!.patch(MAPS, RECORD, 'merge', { metadata: { annotations } })
    await until(clusters[i]!, MAPS, at('second'), gone)
    await until(inventory, TARGETS, ref, holds(0))
  }
  const settled = await type('After a restore')
  t.match(settled, /nothing is held, and all syncers report: [\s\S]*\nsettled the restore of /)
  await until(wds, PLACEMENTS, { name: 'p' }, has('RestoreUnsettled', 'False', 'NothingHeld'))
  const { code, out } = await run('restore', 'status', '--kubeconfig', florin.kubeconfig)
  t.strictSame([code, out], [0, 'no restore is unsettled\n'])
  await wds.delete(MAPS, at('page'))
  await everywhere('page', gone)
})
