/**
 * The victim of crash.test.ts: 32 writers on a level store, and a watcher. It reports on stdout, one JSON line each, what
 * was acknowledged to it and what its watch has shown, until it is killed. Arguments: path, revision to watch from, and
 * how many revisions of history it keeps.
 */
import { writeSync } from 'node:fs'
import { openLevelStore } from '../../src/storage/level/openLevelStore.ts'
import type { StoreEvent } from '../../src/storage/store.ts'
import { del, key, put, putShared, textOf, updated } from './support.ts'

const [path, after, kept] = process.argv.slice(2) as [string, string, string]
// By age nothing is forgotten: the parent checks what is kept.
const store = await openLevelStore({ path, historyAgeMs: 3_600_000 })

// A synchronous write to a pipe is in the parent's hands when it returns, whatever happens to this process next.
const report = (line: object): void => {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

report({ opened: store.revision })

async function watch(): Promise<void> {
  const { signal } = new AbortController()
  for await (const batch of store.watch({}, { after: Number(after), signal }))
    report({ events: batch.map((e: StoreEvent) => [e.revision, e.type, e.key.name, textOf(e.stored)]) })
}

async function writer(id: number): Promise<void> {
  for (let op = 0; ; op++) {
    if (id === 0 && op % 10 === 9) await store.compact(Math.max(0, store.revision - Number(kept)))
    const data = `${process.pid}/${id}/${op}/${'x'.repeat((id * op) % 500)}`
    // Neighbouring writers share a key, so that versions of one object follow each other in one batch.
    const k = key(`n${id >> 1}-${op % 3}`)
    const mutation = op % 5 === 4 ? del(data) : op % 2 === 0 ? put(data) : putShared(data)
    if (op % 7 === 6) {
      const extra = [0, 1, 2].map(i => ({ key: key(`many-${process.pid}-${id}-${op}-${i}`), mutation, expect: 0 }))
      for (const result of await store.writeMany(extra))
        if (result.ok)
          report({ acknowledged: [result.stored.revision, 'put', result.stored.key.name, textOf(result.stored)] })
    } else {
      const stored = await updated(store, k, () => mutation)
      if (stored !== undefined) report({ acknowledged: [stored.revision, mutation.type, k.name, textOf(stored)] })
    }
  }
}

await Promise.all([watch(), ...Array.from({ length: 32 }, (_, id) => writer(id))])
