/** Many requests, watches and answers that nobody reads: of one user, and of a ServiceAccount. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Attack, attack } from '../attack.ts'
import { Attacker, type Blow } from '../attacker.ts'
import { crowd, type Ground } from '../ground.ts'

const HOLD_MS = 4000
const map = (bytes: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { generateName: 'c-' },
  data: { a: 'x'.repeat(bytes) },
})

interface Hold {
  ground: Ground
  count: number
  atOnce: number
  blow: Blow | (() => Blow)
  meanwhile?: () => Promise<void>
}

/** Asks so often, reads nothing, and leaves after a while. Requests that wait for their turn then are never answered. */
async function hold({ ground, count, atOnce, blow, meanwhile }: Hold): Promise<void> {
  let over = false
  const asked = crowd(count, atOnce, async () => {
    if (!over) await ground.alice.unread(typeof blow === 'function' ? blow() : blow)
  })
  await Promise.race([asked, pause(HOLD_MS)])
  await meanwhile?.()
  await pause(ground.size(HOLD_MS, 0))
  over = true
  ground.alice.leave()
  await asked
}

async function asAccount(ground: Ground): Promise<void> {
  const token = await ground.accountToken('greedy')
  ground.alice.close()
  ground.alice = new Attacker(ground.url, token)
}

const large = async ({ alice, space, size }: Ground): Promise<void> =>
  await crowd(size(40, 2), 4, () => alice.must({ path: space.maps, body: map(800_000) }))

export const crowds: readonly Attack[] = [
  attack('unread-lists', {
    does: '260 lists of 30 MB that nobody reads, as a user',
    prepare: large,
    run: async ground =>
      await hold({ ground, count: ground.size(260, 20), atOnce: 260, blow: { path: ground.space.maps } }),
    keepsMb: 60,
  }),
  attack('unread-lists-account', {
    does: '260 lists of 30 MB that nobody reads, as a ServiceAccount',
    prepare: async ground => {
      await large(ground)
      await asAccount(ground)
    },
    run: async ground =>
      await hold({ ground, count: ground.size(260, 20), atOnce: 260, blow: { path: ground.space.maps } }),
    keepsMb: 60,
  }),
  attack('unread-watches', {
    does: '600 watches that nobody reads, while objects of 200 KB are written',
    run: async ground =>
      await hold({
        ground,
        count: ground.size(600, 20),
        atOnce: 64,
        blow: { path: `${ground.space.maps}?watch=1` },
        meanwhile: async () =>
          await crowd(ground.size(60, 3), 4, () => ground.alice.send({ path: ground.space.maps, body: map(200_000) })),
      }),
    keepsMb: 120,
  }),
  attack('watches', {
    does: '3,000 watches opened at once, again and again',
    run: async ground =>
      await hold({ ground, count: ground.size(3000, 30), atOnce: 64, blow: { path: `${ground.space.maps}?watch=1` } }),
  }),
  attack('watch-selectors', {
    does: '500 watches with selectors as long as a URL may be, and with the longest that are allowed, while an object changes',
    run: async ground => {
      const selector = (terms: number, i: number): string =>
        Array.from({ length: terms }, (_, k) => `!${i}-${k}`).join(',')
      let next = 0
      await hold({
        ground,
        count: ground.size(500, 6),
        atOnce: 32,
        blow: () => {
          const i = next++
          const labels = i % 8 === 0 ? selector(5000, i) : selector(1000, i)
          return { path: `${ground.space.maps}?watch=1&labelSelector=${encodeURIComponent(labels)}` }
        },
        meanwhile: async () =>
          await crowd(ground.size(100, 3), 1, () => ground.alice.send({ path: ground.space.maps, body: map(100) })),
      })
    },
    hears: [400],
    keepsMb: 60,
  }),
  attack('flood-reads', {
    does: '128 at a time: GETs as fast as they go',
    run: async ({ alice, space, size }) =>
      await crowd(size(10_000, 40), 128, () => alice.send({ path: `${space.maps}/nothing` })),
  }),
  attack('flood-writes', {
    does: '128 at a time: POSTs as fast as they go',
    run: async ({ alice, space, size }) =>
      await crowd(size(4000, 32), 128, () => alice.send({ path: space.maps, body: map(100) })),
    keepsMb: 120,
  }),
  attack('flood-account', {
    does: '128 at a time: POSTs and lists as a ServiceAccount',
    prepare: asAccount,
    run: async ({ alice, space, size }) =>
      await crowd(size(4000, 32), 128, i =>
        alice.send(i % 8 === 0 ? { path: `${space.maps}?limit=500` } : { path: space.maps, body: map(100) }),
      ),
    keepsMb: 120,
  }),
  attack('flood-wrong-token', {
    does: '128 at a time: requests with a credential that is none',
    prepare: async ground => {
      ground.alice.close()
      ground.alice = new Attacker(ground.url, 'nobody')
    },
    run: async ({ alice, space, size }) =>
      await crowd(size(4000, 32), 128, () => alice.send({ path: `${space.maps}/nothing` })),
    hears: [401],
  }),
  attack('large-bodies', {
    does: '64 at a time: bodies of 3 MiB that are refused, and of 900 KB that are not',
    run: async ({ alice, space, size }) => {
      const tooLarge = Buffer.alloc(3.2 * 1024 * 1024, 'x')
      await crowd(size(150, 4), size(64, 4), i =>
        i % 2 === 0
          ? alice.send({ path: space.maps, body: tooLarge })
          : alice.send({ path: `${space.maps}?dryRun=All`, body: map(900_000) }),
      )
    },
    hears: [413],
  }),
]
