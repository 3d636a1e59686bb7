/** The places of the server's files, and faults of its disk, are for its operator's log: users get a plain failure. */
import t from 'tap'
import { StorageError } from '../../src/storage/store.ts'
import type { Answer } from '../support/api.ts'
import { CONFIGMAPS, configMap, ON_MAIN_THREAD, startTestServer } from '../support/server.ts'

t.test('no answer tells the data dir when the store fails', async t => {
  const { api, server, dataDir, faults } = await startTestServer(t, ON_MAIN_THREAD)
  const text = `IO error: ${dataDir}/store/000007.log: No space left on device`
  const raw = Object.assign(new Error(text), { code: 'LEVEL_IO_ERROR' })
  const opened = Object.assign(new Error(`ENOSPC: no space left on device, open '${dataDir}/store'`), {
    code: 'ENOSPC',
    syscall: 'open',
    path: `${dataDir}/store`,
  })
  const failures: [error: Error, told: RegExp][] = [
    [
      new StorageError('Failed', `the disk refused a write, the store takes no more: ${text}`),
      /cannot write to its disk/,
    ],
    [new StorageError('Damaged', `the data dir ${dataDir} is damaged`), /cannot read what it has stored/],
    [raw, /cannot use one of its files/],
    [opened, /cannot use one of its files/],
    [new Error(`cannot write: ${text}`, { cause: raw }), /cannot use one of its files/],
  ]
  await api.ok(api.post(CONFIGMAPS, configMap('kept')))
  const { store } = server
  const { write, update, watch, list, slices } = store
  for (const [error, told] of failures) {
    const fail = async (): Promise<never> => {
      throw error
    }
    const noSlices = (): never => {
      throw error
    }
    Object.assign(store, { write: fail, update: fail, list: fail, slices: noSlices })
    const answers: Answer[] = [
      await api.post(CONFIGMAPS, configMap('a')),
      await api.patch(`${CONFIGMAPS}/kept`, 'merge', { data: { a: 'b' } }),
      await api.get(CONFIGMAPS),
      await api.get(CONFIGMAPS, { Accept: 'application/yaml' }),
    ]
    Object.assign(store, { write, update, list, slices })
    for (const { code, text: body } of answers) {
      t.equal(code, 500)
      t.match(body, told)
      t.notMatch(body, dataDir)
    }
    const streams = ['/services/stream/clusters/root', `${CONFIGMAPS}?watch=1&resourceVersion=1`]
    Object.assign(store, {
      watch() {
        throw error
      },
    })
    for (const path of streams) {
      const lines = JSON.stringify(await (await api.watch(path)).rest())
      t.match(lines, told)
      t.notMatch(lines, dataDir)
    }
    Object.assign(store, { watch })
  }
  t.match(faults.join('\n'), dataDir, 'the log says it all')
})
