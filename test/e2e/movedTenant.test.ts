/** docs/move.md, command by command: to another space, then to another server. Clusters keep what runs there, by uid. */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, deployment, is, map, registerCluster, there } from '../syncer/support/installation.ts'
import { DEPLOYMENTS, MAPS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { Florin, has } from './support/florin.ts'
import { Terminal } from './support/terminal.ts'
import { pagesOf, sectionOf, typedIn } from './support/typedIn.ts'

const PAGE = pagesOf('move.md')

t.setTimeout(FILE_LIMIT_MS)

t.test('what two clusters run stays while its tenant moves', { timeout: FILE_LIMIT_MS }, async t => {
  const dir = temporaryDir(t)
  const terminal = new Terminal(t, { dir })
  const type = async (section: string, change = (command: string) => command): Promise<string> => {
    const script = typedIn(sectionOf(PAGE, `## ${section}`))
      .map(change)
      .join('\n')
    const { code, out, err } = await terminal.run(script)
    t.equal(code, 0, `${script}\n${err}`)
    return out
  }
  const florin = await Florin.begin(t)
  const guilder = await florin.join('guilder', { env: 'prod' })
  const clusters = [florin.cluster, guilder.cluster]
  await florin.wds.create(DEPLOYMENTS, deployment)
  const uids = async (): Promise<unknown[]> => {
    const found: unknown[] = []
    for (const cluster of clusters)
      for (const [kind, name] of [
        [MAPS, 'page'],
        [DEPLOYMENTS, 'web'],
      ] as const)
        found.push((await until(cluster, kind, at(name), there))?.metadata.uid)
    return found
  }
  const before = await uids()

  t.comment('to another space of the server')
  await copyFile(florin.kubeconfig, join(dir, 'old.kubeconfig'))
  t.match(await type('Export'), /^wrote shop\.orrery: \d+ objects of root:wmw1\n$/)
  t.match(
    await type('To another space of the server'),
    /EdgePlacement p would be created[\s\S]*EdgePlacement p created[\s\S]* met\n[\s\S]*deleted/,
  )
  const moved = florin.space('root:shop')
  await moved.patch(MAPS, at('page'), 'merge', { data: { x: '2' } })
  for (const cluster of clusters) await until(cluster, MAPS, at('page'), is('data', { x: '2' }))
  await until(moved, PLACEMENTS, { name: 'p' }, has('Applied', 'True', 'AllApplied'))
  t.strictSame(await uids(), before)

  t.comment('to another server, with its clusters')
  const second = new Center(t, join(dir, 'second'))
  await second.start()
  await copyFile(join(second.dir, 'admin.kubeconfig'), join(dir, 'new.kubeconfig'))
  const mailboxes: string[] = []
  for (const name of ['florin', 'guilder']) mailboxes.push(await registerCluster(second, name, { env: 'prod' }))
  const [, handOver] = sectionOf(PAGE, '## To another server').split('Then hand over')
  t.ok(handOver?.includes('orrery syncer adopt'))
  await florin.syncer.end()
  await guilder.syncer.end()
  const wds = second.in('root:wmw1')
  for (const [i, [name, folder]] of [
    ['florin', 'wec'],
    ['guilder', 'guilder'],
  ].entries()) {
    await copyFile(florin.clusterKubeconfig(folder!), join(dir, 'cluster.kubeconfig'))
    // the space is there already when the second cluster comes
    await type('To another server', command => command.replaceAll('florin', name!))
    await until(second.in(mailboxes[i]!), MAPS, at('page'), there)
    const ends = ['--from-kubeconfig', join(dir, `${name}.kubeconfig`)]
    const syncer = ['syncer', ...ends, '--to-kubeconfig', florin.clusterKubeconfig(folder!)]
    const rehearsal = new Command(t, [...syncer, '--dry-run'])
    await rehearsal.exited()
    t.notMatch(rehearsal.lines.join('\n'), /delete|remove/i, 'nothing would be taken away')
    await new Command(t, [...syncer, '--qps', '0']).said('the mailbox is known, syncing')
  }
  await until(wds, PLACEMENTS, { name: 'p' }, has('Applied', 'True', 'AllApplied'))
  await wds.patch(MAPS, at('page'), 'merge', { data: { x: '3' } })
  await wds.create(MAPS, map('new', { x: '1' }))
  for (const cluster of clusters) {
    await until(cluster, MAPS, at('page'), is('data', { x: '3' }))
    await until(cluster, MAPS, at('new'), there)
  }
  t.strictSame(await uids(), before)
})
