/** `orrery store`, and a start after damage, as a user meets them. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { openLevelStore } from '../../../../src/storage/level/openLevelStore.ts'
import { create, key } from '../../../storage/support.ts'
import { Command } from '../../../support/command.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'
import { orreryHere as run } from '../../../support/runHere.ts'
import { temporaryDir } from '../../../support/temporaryDir.ts'

const ORRERY = join(import.meta.dirname, '../../../../bin/orrery')

/** A process, where the test's own is one of those that it is about, or would be ended. */
function runApart(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise(resolve => {
    execFile(ORRERY, args, { timeout: PATIENCE_MS }, (error, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err })
    })
  })
}

/** A server that runs until `stop`, which gives all that it logs. */
async function start(t: Test, dataDir: string, ...flags: string[]) {
  const server = new Command(t, ['start', '--data-dir', dataDir, '--secure-port', '0', ...flags])
  await server.said('orrery ready')
  const stop = async (): Promise<string> => {
    await server.end()
    return server.lines.join('\n')
  }
  return { stop }
}

const root = temporaryDir(t)

t.test('a stopped store is verified and counted', async t => {
  const dataDir = join(root, 'small')
  t.match(await run('store', 'verify', '--data-dir', dataDir), { code: 1, err: /there is no data dir .*small/ })
  mkdirSync(dataDir)
  t.match(await run('store', 'verify', '--data-dir', dataDir), { code: 0, out: /there is no store in .*small/ })
  const store = await openLevelStore({ path: join(dataDir, 'store') })
  await create(store, key('a'), key('b', { space: 's2' }), key('c', { group: '', resource: 'configmaps' }))
  await store.update(key('a'), () => ({ type: 'delete' }))
  await store.close()
  const before = readdirSync(join(dataDir, 'store'))
  t.match(await runApart('store', 'verify', '--data-dir', dataDir), {
    code: 0,
    out: /^intact: 2 objects and 4 log entries, up to revision 4\n$/,
  })
  const { code, out } = await run('store', 'stats', '--data-dir', dataDir)
  t.equal(code, 0)
  for (const fact of [
    /^newest revision +4$/m,
    /^objects +2$/m,
    /^spaces +2$/m,
    /^ {2}configmaps +1 objects, \d+ bytes$/m,
  ])
    t.match(out, fact)
  const verified = await run('store', 'verify', '--data-dir', dataDir, '-o', 'json')
  t.match(JSON.parse(verified.out), { kind: 'StoreVerification', intact: true, objects: 2, revision: 4, lost: [] })
  const counted = await run('store', 'stats', '--data-dir', dataDir, '-o', 'yaml')
  t.match(parse(counted.out), {
    kind: 'StoreStats',
    revision: 4,
    spaces: 2,
    kinds: [
      { resource: 'configmaps', objects: 1 },
      { resource: 'deployments.apps', objects: 1 },
    ],
  })
  t.same(readdirSync(join(dataDir, 'store')), before, 'and nothing was changed')
})

t.test("the server's config file says where the store is, and the syncer's what an adoption is between", async t => {
  const config = join(root, 'server.yaml')
  const dataDir = join(root, 'configured')
  mkdirSync(dataDir)
  writeFileSync(config, `data-dir: ${dataDir}\nsecure-port: 7443\nhistory-minutes: 5\n`)
  for (const command of ['verify', 'stats'])
    t.match(await run('store', command, '--config', config), { code: 0, out: `there is no store in ${dataDir}` })
  writeFileSync(config, `from-kubeconfig: ${dataDir}/missing\nqps: 5\nstate-dir: ${dataDir}\n`)
  t.match(await run('syncer', 'adopt', '--config', config), {
    code: 1,
    err: /^orrery syncer adopt: --from-kubeconfig: .*missing does not exist/,
  })
  writeFileSync(config, 'data-dri: x\n')
  t.match(await run('store', 'verify', '--config', config), { code: 1, err: /unknown field "data-dri"/ })
})

t.test(
  'a running server is left alone; a damaged store is refused, assessed, and started with what is intact',
  async t => {
    const dataDir = join(root, 'server')
    const first = await start(t, dataDir)
    t.match(await runApart('store', 'verify', '--data-dir', dataDir), {
      code: 1,
      err: /is in use by another process: stop/,
    })
    await first.stop()
    t.match(await run('store', 'verify', '--data-dir', dataDir), { code: 0, out: /^intact: / })

    const log = readdirSync(join(dataDir, 'store')).find(file => file.endsWith('.log'))!
    rmSync(join(dataDir, 'store', log))
    const refused = await runApart('start', '--data-dir', dataDir, '--secure-port', '0')
    t.match(refused, {
      code: 1,
      err: /^orrery start: the data dir .* is damaged: .*\d+ acknowledged writes are missing/,
    })
    const assessed = await run('store', 'verify', '--data-dir', dataDir)
    t.match(assessed, { code: 1, out: /^damaged: .*acknowledged writes are missing/ })
    const document = await run('store', 'verify', '--data-dir', dataDir, '-o', 'json')
    t.match(JSON.parse(document.out), { intact: false, findings: [/acknowledged writes are missing/] })
    const again = await start(t, dataDir, '--accept-loss')
    const told = await again.stop()
    t.match(told, /"what":"\d+ acknowledged writes are missing.*"msg":"the store was damaged"/)
    t.match(told, /"revision":1000\d+,"aside":".*store\.damaged-.*leave --accept-loss out from now on/)
    t.match(await run('store', 'verify', '--data-dir', dataDir), { code: 0, out: /^intact: / })

    for (const file of readdirSync(dataDir).filter(file => file.startsWith('store')))
      rmSync(join(dataDir, file), { recursive: true })
    const gone = await run('start', '--data-dir', dataDir, '--secure-port', '0')
    t.match(gone, { code: 1, err: /is damaged: the database is gone, and the keys of its server are there/ })
  },
)
