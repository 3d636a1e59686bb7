/**
 * One of two syncers of a cluster is killed while the brake holds deletions. Its successor holds the same, and obeys one confirmation of it
 * once.
 */
import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { CONFIRM_DELETION_ANNOTATION } from '../../src/placement/words/placement.ts'
import { temporaryDir } from '../support/server.ts'
import { at, gone, map, there } from '../syncer/support/installation.ts'
import { LEASES, MAPS } from '../syncer/support/kinds.ts'
import { type Program, until } from '../syncer/support/processes.ts'
import { Florin, RECORD } from './support/florin.ts'

const NAMES = Array.from({ length: 55 }, (_, i) => `m${i}`)
const HELD = '55 objects stay in the cluster'
const STANDS_BY = 'another syncer serves the cluster; standing by until it ends'
const isConfirmed = (note: KubeObject | undefined): boolean =>
  note?.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] !== undefined

t.test('nothing that is held goes by a takeover, and what is confirmed meanwhile goes once', async t => {
  const florin = await Florin.beginWithProcess(t, { flags: ['--state-dir', join(temporaryDir(t), 'first')] })
  const { cluster, mailbox } = florin
  const placed = async (): Promise<string[]> => {
    const { items } = await cluster.list(MAPS, { namespace: 'shop' })
    return items.map(({ metadata }) => metadata.name ?? '').filter(name => NAMES.includes(name))
  }
  const place = async (): Promise<void> => {
    await Promise.all(NAMES.map(name => florin.wds.create(MAPS, map(name, { x: '1' }))))
    for (let last: string | undefined = 'm0'; last !== undefined; ) {
      await until(cluster, MAPS, at(last), there)
      const known = await placed()
      last = NAMES.find(name => !known.includes(name))
    }
  }
  /** The center forgets all that was placed since. */
  const restore = async (): Promise<void> => {
    await florin.endCenter()
    await florin.restore()
    await florin.startCenter()
  }
  const areHeld = async (syncer: Program): Promise<string> => {
    const said = await syncer.said(HELD)
    t.equal((await placed()).length, NAMES.length)
    return /confirm-deletion=(\w+)/.exec(said)?.[1] ?? ''
  }
  const confirm = (hash: string) =>
    cluster.patch(MAPS, RECORD, 'merge', { metadata: { annotations: { [CONFIRM_DELETION_ANNOTATION]: hash } } })
  const kill = async (syncer: Program): Promise<void> => {
    await syncer.end('SIGKILL')
    // else the next one waits until nobody can be writing any more
    await cluster.delete(LEASES, RECORD)
  }

  await florin.endCenter()
  await florin.backUp()
  await florin.startCenter()
  await place()
  await restore()
  const hash = await areHeld(florin.syncer)

  const second = await florin.serveByProcess(mailbox, '--state-dir', join(temporaryDir(t), 'second'))
  await second.said(STANDS_BY)
  await kill(florin.syncer)
  t.equal(await areHeld(second), hash, 'the same plan')

  const third = await florin.serveByProcess(mailbox)
  await third.said(STANDS_BY)
  await second.end('SIGKILL')
  await confirm(hash)
  await cluster.delete(LEASES, RECORD)
  for (let [one] = await placed(); one !== undefined; [one] = await placed()) await until(cluster, MAPS, at(one), gone)
  await until(cluster, MAPS, RECORD, note => note !== undefined && !isConfirmed(note))
  t.ok(await cluster.get(MAPS, at('page')))

  await place()
  await restore()
  await areHeld(third)
})
