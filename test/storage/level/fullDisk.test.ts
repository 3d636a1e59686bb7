/** A disk that somebody else fills to its last byte: the store refuses, keeps what it has, and goes on once there is room. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { create, del, key, put, textOf, updated } from '../support.ts'

const disk = mkdtempSync(join(tmpdir(), 'orrery-full-'))
t.teardown(() => rmSync(disk, { recursive: true }))

function noMount(): string | false {
  if (process.platform !== 'linux' || process.getuid!() !== 0) return 'only root on Linux mounts a small disk'
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk], { stdio: 'pipe' })
  } catch (error) {
    return `no small disk can be mounted: ${(error as Error).message}`
  }
  t.teardown(() => execFileSync('umount', ['--lazy', disk]))
  return false
}

t.test('writes wait for room and are refused, in LevelDB', { skip: noMount() }, async t => {
  const told: string[] = []
  const logger = {
    warn: (_: object, text: string) => told.push(text),
    error: (_: object, text: string) => told.push(text),
  }
  const path = join(disk, 'store')
  const retries: (() => void)[] = []
  const store = await openLevelStore({ path, logger, retry: turn => retries.push(turn) })
  for (const name of ['a', 'b', 'c']) await create(store, key(name))
  const filler = join(disk, 'filler')
  const fill = (): void => {
    for (const bytes of [1 << 20, 1 << 12])
      try {
        for (;;) appendFileSync(filler, Buffer.alloc(bytes))
      } catch (error) {
        t.match(error, { code: 'ENOSPC' })
      }
  }
  for (const round of [1, 2]) {
    fill()
    // the page that LevelDB's log has begun may still take some
    const writing: Promise<unknown>[] = []
    while (retries.length === 0) {
      writing.push(updated(store, key('a'), () => put(`${round}`.repeat(5000))))
      await setImmediate()
    }
    t.match(await store.update(key('b'), () => del()), { ok: false, refused: { reason: 'Shortage' } })
    retries.shift()!()
    while (retries.length === 0) await setImmediate()
    t.match(await store.write({ key: key('d'), mutation: put('d'), expect: 0 }), {
      ok: false,
      refused: { reason: 'Shortage' },
    })
    rmSync(filler)
    retries.shift()!()
    await Promise.all(writing)
    await updated(store, key('c'), () => put(`round ${round}`))
  }
  await updated(store, key('b'), () => del())
  const { revision } = store
  await store.close()
  const again = await openLevelStore({ path })
  t.equal(again.revision, revision)
  t.match((await again.list({})).items.map(textOf), [/^\d+:2{5000}$/, /^\d+:round 2$/])
  t.match(
    told.filter(text => /^the disk/.test(text)),
    [/is full/, /has room again/, /is full/, /has room again/],
  )
  await again.close()
})
