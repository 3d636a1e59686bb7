/** Growth ends before the disk is full: by what was last seen, less what was written since. */
import t from 'tap'
import { DiskRoom, LEAST_RESERVE_BYTES, MOST_RESERVE_BYTES } from '../../../src/apiserver/shortage/diskRoom.ts'

const GIB = 1024 ** 3

function disk(o: { reserveBytes?: number; sizeBytes?: number } = {}) {
  let freeBytes: number | undefined = 100 * GIB
  let nowMs = 0
  const lines: string[] = []
  const tell = (_: unknown, text: string): void => void lines.push(text)
  const room = new DiskRoom({
    async look() {
      if (freeBytes === undefined) throw new Error('no such disk')
      return { freeBytes, sizeBytes: o.sizeBytes ?? 1000 * GIB }
    },
    reserveBytes: o.reserveBytes,
    elapsed: () => nowMs,
    log: { info: tell, warn: tell, error: tell },
  })
  return {
    room,
    lines,
    async lackAt(free: number | undefined) {
      freeBytes = free
      nowMs += 1000
      await room.look()
      return room.lack()
    },
  }
}

t.test('a twentieth of the disk is kept free, within bounds', async t => {
  for (const [sizeBytes, reserve] of [
    [1000 * GIB, MOST_RESERVE_BYTES],
    [2 * GIB, 0.1 * GIB],
    [GIB / 10, LEAST_RESERVE_BYTES],
  ] as const) {
    const { lackAt } = disk({ sizeBytes })
    t.equal(await lackAt(reserve + 1), undefined)
    t.match(await lackAt(reserve - 1), { critical: false, message: /disk is nearly full; delete/ })
    t.match(await lackAt(reserve / 4 - 1), { critical: true })
  }
})

t.test('what was written since the last look counts, until the next one', async t => {
  const { room, lackAt, lines } = disk({ reserveBytes: 1000 })
  t.equal(await lackAt(2000), undefined)
  room.took(300)
  t.match(room.lack(), { critical: false })
  t.equal(await lackAt(2000), undefined)
  t.match(lines, [/the disk is short/, /has room again/])
})

t.test('a disk that does not answer counts as before, and is told once', async t => {
  const { lackAt, lines } = disk({ reserveBytes: 1000 })
  t.equal(await lackAt(undefined), undefined)
  t.equal(await lackAt(undefined), undefined)
  t.match(await lackAt(10), { critical: true })
  t.match(await lackAt(undefined), { critical: true })
  t.same(
    lines.map(line => line.includes('does not say')),
    [true, false, true],
  )
})

t.test('without a reserve nobody looks', async t => {
  const { lackAt } = disk({ reserveBytes: 0 })
  t.equal(await lackAt(0), undefined)
})
