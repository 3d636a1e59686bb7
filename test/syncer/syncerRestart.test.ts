/** A syncer that begins: with a former state, an old one or none, while the center is away, after its mailbox went or was recreated. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import t, { type Test } from 'tap'
import { isRecord } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { startCenter } from '../support/center.ts'
import { CONFIGS, MAPS, WORKSPACES } from './support/kinds.ts'
import { type Pair, pairIn, sent } from './support/pair.ts'
import { recordingLogger } from './support/recordingLogger.ts'

const AT_A = { namespace: 'app', name: 'a' }

const center = await startCenter(t, { expectsTrouble: true })

/** Saved state of the ended syncer, with another head. */
async function edited({ dir }: Pair, edit: (text: string) => string): Promise<void> {
  const level = new Level(join(dir, 'mailbox'))
  await level.put('state', edit((await level.get('state'))!))
  await level.close()
}

const pair = (test: Test): Promise<Pair> => pairIn(center, test)

t.test('leftovers of an earlier run go, also without its state and of kinds that are wanted no more', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await first.stop()
  await edited(p, () => '{"format":2,')
  await p.mailbox.delete(MAPS, AT_A)
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { namespacedObjects: [] } })
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await center.world.absent(p.clusterId, 'configmaps app/a')
  t.equal(lines.filter(line => line.message.startsWith('the saved state cannot be used')).length, 1)
})

t.test('a restart with an old state deletes nothing that the mailbox holds by now', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('b'))
  await center.world.present(p.clusterId, 'configmaps app/b')
  await first.stop()
  cpSync(join(p.dir, 'mailbox'), join(p.dir, 'old'), { recursive: true })
  const second = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  const made = await center.world.present(p.clusterId, 'configmaps app/a')
  await second.stop()
  rmSync(join(p.dir, 'mailbox'), { recursive: true })
  cpSync(join(p.dir, 'old'), join(p.dir, 'mailbox'), { recursive: true })
  p.toCenter.down = true
  const third = p.start()
  await third.synced
  await p.settled()
  p.toCenter.down = false
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: 'new' } })
  const now = await center.world.present(
    p.clusterId,
    'configmaps app/a',
    ({ data }) => isRecord(data) && data.x === 'new',
  )
  t.equal(now.metadata.uid, made.metadata.uid, 'it was never deleted')
})

/** A cluster that has `a`, whose syncer has ended, and the center is away. */
async function leftAlone(t: Test) {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await first.stop()
  p.toCenter.down = true
  return p
}

t.test('a syncer that starts while the center is away keeps its cluster as the center wanted it', async t => {
  const p = await leftAlone(t)
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await p.cluster.delete(MAPS, AT_A)
  await center.world.present(p.clusterId, 'configmaps app/a')
  t.equal(lines.filter(line => line.level !== 'info').length, 1, 'one line says that the center is away')
})

t.test('what somebody deletes before the slow first list of its kind is there is repaired, too', async t => {
  // Nothing of the center makes the syncer look again.
  const p = await leftAlone(t)
  const [lookedAt, deleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const cluster: SpaceClient = {
    ...p.cluster,
    async get(resource, ref) {
      const object = await p.cluster.get(resource, ref)
      if (resource.resource === 'configmaps' && ref.name === AT_A.name) lookedAt.resolve()
      return object
    },
    async list(resource, options) {
      if (resource.resource === 'configmaps' && options?.labelSelector) await deleted.promise
      return await p.cluster.list(resource, options)
    },
  }
  p.start(undefined, undefined, { cluster })
  await lookedAt.promise
  await p.cluster.delete(MAPS, AT_A)
  await center.world.absent(p.clusterId, 'configmaps app/a')
  deleted.resolve()
  await center.world.present(p.clusterId, 'configmaps app/a')
})

t.test('a mailbox that was made anew is read from the start, whatever the state of the old one says', async t => {
  const p = await pair(t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await first.stop()
  await edited(p, text => text.replaceAll(`"space":"${p.mailboxId}"`, '"space":"another"'))
  await p.mailbox.delete(MAPS, AT_A)
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await center.world.absent(p.clusterId, 'configmaps app/a')
  t.ok(lines.some(line => line.message.startsWith('the mailbox was made anew')))
})

t.test('a mailbox that is deleted as a whole leaves the cluster as it is', async t => {
  const p = await pair(t)
  const { logger, lines } = recordingLogger()
  p.start(logger)
  await p.mailbox.create(MAPS, sent('a'))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await center.client.in('root').delete(WORKSPACES, { name: p.mailboxName })
  await center.world.absent(p.mailboxId, 'configmaps app/a')
  await p.settled()
  t.ok(center.world.get(p.clusterId, 'configmaps app/a'))
  t.ok(lines.some(line => line.message.startsWith('the mailbox is being deleted')))
})
