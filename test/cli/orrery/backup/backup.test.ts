/** `orrery backup` and `orrery restore`, as an administrator meets them. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sectionOf, typedIn } from '../../../e2e/support/typedIn.ts'
import { Api } from '../../../support/api.ts'
import { Command } from '../../../support/command.ts'
import { pluginHere, orreryHere as run } from '../../../support/runHere.ts'
import { ALICE, accessOf, startTestServer, temporaryDir } from '../../../support/server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const map = (name: string, data: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { data },
})

async function start(t: Test, dataDir: string): Promise<{ api: Api; kubeconfig: string; end(): Promise<unknown> }> {
  const server = new Command(t, ['start', '--data-dir', dataDir, '--secure-port', '0'])
  await server.said('orrery ready')
  const kubeconfig = join(dataDir, 'admin.kubeconfig')
  const api = new Api(accessOf(kubeconfig))
  t.teardown(() => api.close())
  return { api, kubeconfig, end: () => server.end() }
}

t.test('what a running server holds comes back in another folder, with its keys and all revisions beyond', async t => {
  const dir = temporaryDir(t)
  const [before, after, archive, keyFile] = ['a', 'b', 'center.orrery', 'key'].map(name => join(dir, name)) as [
    string,
    string,
    string,
    string,
  ]
  writeFileSync(keyFile, 'correct horse battery staple\n')
  const server = await start(t, before)
  for (const space of ['root:wmw1', 'root:imw1']) await server.api.in(space).post(MAPS, map('kept', space))
  const made = await run('backup', archive, '--kubeconfig', server.kubeconfig, '--key-file', keyFile)
  t.match(made, {
    code: 0,
    out: /^wrote .*center\.orrery: \d+ objects as of revision \d+, .*7 files with keys are in it, sealed\n$/,
  })
  t.match(made.err, /^\d+ objects as of revision \d+$/m)
  t.equal(statSync(archive).mode & 0o777, 0o600)
  const lost = await server.api.in('root:wmw1').post(MAPS, map('lost', 'made since'))
  const given = Number(lost.body.metadata.resourceVersion)
  t.match(await run('restore', archive, '--data-dir', before, '--key-file', keyFile), {
    code: 1,
    err: /is not empty.*nothing is overwritten/,
  })
  await server.end()

  t.match(await run('backup', 'verify', archive, '--key-file', keyFile), {
    code: 0,
    out: /^whole: \d+ objects of \d+ spaces[\s\S]*the key file opens them[\s\S]*\n {2}configmaps {2}\d+\n/,
  })
  t.match(await run('restore', archive, '--data-dir', after, '--key-file', keyFile), {
    code: 0,
    out: /^restored \d+ objects into .*\n/,
  })
  for (const name of ['ca.key', 'sa.key', 'admin.crt'])
    t.equal(readFileSync(join(after, 'pki', name), 'utf8'), readFileSync(join(before, 'pki', name), 'utf8'))
  t.match(await run('store', 'verify', '--data-dir', after), { code: 0, out: /^intact/ })

  const again = await start(t, after)
  for (const space of ['root:wmw1', 'root:imw1'])
    t.match((await again.api.in(space).get(`${MAPS}/kept`)).body, { data: { data: space } })
  t.equal((await again.api.in('root:wmw1').get(`${MAPS}/lost`)).code, 404)
  const next = await again.api.in('root:wmw1').post(MAPS, map('next', 'x'))
  t.ok(Number(next.body.metadata.resourceVersion) > given + 1_000_000, 'beyond all that was given out')
  t.match(
    (await again.api.get(`/clusters/root:wmw1${MAPS}?watch=1&resourceVersion=${given}`)).text,
    /"code":410|Expired/,
  )
  // the credentials of the first server are good here
  const old = new Api({ ...accessOf(join(before, 'admin.kubeconfig')), url: again.api.access.url })
  t.teardown(() => old.close())
  t.equal((await old.get('/api/v1/namespaces')).code, 200)
})

t.test(
  'a folder is archived like its server, which must not run; the archive is named after the moment in a folder',
  async t => {
    const dir = temporaryDir(t)
    const [dataDir, archives] = [join(dir, 'a'), join(dir, 'archives')]
    mkdirSync(archives)
    const server = await start(t, dataDir)
    await server.api.in('root:wmw1').post(MAPS, map('kept', 'x'))
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await server.api.ok(server.api.post(accounts, { metadata: { name: 'syncer' } }))
    const { status } = await server.api.ok(server.api.post(`${accounts}/syncer/token`, {}))
    const { token } = status as { token: string }
    t.match(await run('backup', archives, '--data-dir', dataDir), {
      code: 1,
      err: /a server runs on .*--kubeconfig .*admin\.kubeconfig/,
    })
    await server.end()
    t.match(await run('backup', archives, '--data-dir', dataDir), {
      code: 0,
      out: /the keys of the server \(pki\/\) are not in it/,
    })
    const [name, ...others] = readdirSync(archives)
    t.match(name, /^orrery-\d{8}T\d{6}Z\.orrery$/)
    t.strictSame(others, [], 'no part of an archive is left')
    const archive = join(archives, name!)
    const restored = join(dir, 'b')
    t.match(await run('restore', archive, '--data-dir', restored), { code: 1, err: /has no keys.*--without-keys.*pki/ })
    t.match(await run('restore', archive, '--data-dir', restored, '--without-keys'), { code: 0, out: /makes new keys/ })
    const other = (await start(t, restored)).api
    t.match((await other.in('root:wmw1').get(`${MAPS}/kept`)).body, { data: { data: 'x' } })
    t.comment('a center with other keys: credentials of the first one open nothing, and it is not taken for that one')
    const { url, ca } = other.access
    const { cert, key, ca: firstCa } = accessOf(join(dataDir, 'admin.kubeconfig'))
    for (const [credential, more] of [
      ['certificate', { cert: cert!, key: key! }],
      ['token', { token }],
    ] as const) {
      const [unverified, verified] = [new Api({ url, ca: firstCa!, ...more }), new Api({ url, ca: ca!, ...more })]
      await t.rejects(unverified.get('/api'), { code: /^(SELF_SIGNED_CERT|UNABLE_TO|CERT_SIGNATURE)/ }, credential)
      t.equal((await verified.get('/api')).code, 401, credential)
      unverified.close()
      verified.close()
    }
    t.match(await run('backup', archive, '--data-dir', dataDir), {
      code: 1,
      err: /is there already.*nothing is overwritten/,
    })
    t.match(await run('backup', join(archives, 'x'), '--data-dir', join(dir, 'none')), {
      code: 1,
      err: /there is no data dir/,
    })
    const empty = join(dir, 'empty')
    mkdirSync(empty)
    t.match(await run('backup', join(archives, 'x'), '--data-dir', empty), {
      code: 1,
      err: /there is nothing in the store/,
    })
    t.strictSame(readdirSync(empty), [], 'and none is made')
    t.match(await run('backup', join(archives, 'no', 'x'), '--data-dir', dataDir), {
      code: 1,
      err: /cannot be written.*may write to/,
    })
    t.match(await run('backup'), { code: 1, err: /name the file/ })
    t.match(await run('backup', 'verfy', archive), {
      code: 1,
      err: /there is no sub-command "verfy"; did you mean "verify"\? A file of that name is \.\/verfy/,
    })
    t.match(await run('backup', 'verfy', '--data-dir', dataDir), { code: 1, err: /there is no sub-command "verfy"/ })
    t.notOk(existsSync('verfy'))
    t.match(await run('backup', join(archives, 'x'), '--data-dir', dataDir, '--keep', '3'), {
      code: 1,
      err: /--keep: .*x is no folder/,
    })
    t.match(await run('backup', archives, '--data-dir', dataDir, '--every', '1s'), {
      code: 1,
      err: /--every: "1s" is no time of a minute or more/,
    })
    // the next one may be made within the same second
    renameSync(archive, join(archives, 'orrery-20220101T000000Z.orrery'))
    for (const name of ['orrery-20200101T000000Z.orrery', 'orrery-20210101T000000Z.orrery', 'mine.orrery'])
      writeFileSync(join(archives, name), '')
    const kept = await run('backup', archives, '--data-dir', dataDir, '--keep', '2')
    t.match(kept, { code: 0, err: /removed orrery-20200101T000000Z\.orrery, orrery-20210101T000000Z\.orrery/ })
    t.equal(readdirSync(archives).length, 3)
  },
)

t.test('an archive that is not whole, and a passphrase that is not its own, lead to nothing', async t => {
  const dir = temporaryDir(t)
  const { dataDir, server } = await startTestServer(t)
  await server.close()
  const [keyFile, other, short] = ['key', 'other', 'short'].map(name => join(dir, name)) as [string, string, string]
  writeFileSync(keyFile, 'correct horse battery staple')
  writeFileSync(other, 'incorrect horse')
  writeFileSync(short, 'horse\n')
  const archive = join(dir, 'whole.orrery')
  t.match(await run('backup', archive, '--data-dir', dataDir, '--key-file', short), {
    code: 1,
    err: /--key-file: .*has 5 bytes/,
  })
  t.match(await run('backup', archive, '--data-dir', dataDir, '--key-file', join(dir, 'no')), {
    code: 1,
    err: /--key-file: .*cannot be read/,
  })
  t.equal((await run('backup', archive, '--data-dir', dataDir, '--key-file', keyFile)).code, 0)
  const [cut, altered, newer] = ['cut', 'altered', 'newer'].map(name => join(dir, name)) as [string, string, string]
  cpSync(archive, cut)
  truncateSync(cut, statSync(archive).size - 3)
  const bytes = readFileSync(archive)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(altered, bytes)
  writeFileSync(newer, readFileSync(archive, 'latin1').replace('ARCHIVE 1', 'ARCHIVE 7'), 'latin1')
  const restored = join(dir, 'restored')
  const faults: [file: string, err: RegExp, ...flags: string[]][] = [
    [cut, /cut is not whole: it was cut short: take another archive/],
    [altered, /altered is not whole: .*it was altered since/],
    [newer, /newer cannot be read here: it is an archive of version 7.*use the newer Orrery/],
    [keyFile, /key cannot be read here: it is no archive of Orrery/],
    [join(dir, 'none'), /none cannot be read/],
    [dir, /cannot be read/],
    [archive, /has not the passphrase/, '--key-file', other],
  ]
  for (const [file, err, ...flags] of faults) {
    t.match(await run('backup', 'verify', file, ...flags), { code: 1, out: '', err })
    const withKeys = flags.length > 0 ? flags : ['--key-file', keyFile]
    t.match(await run('restore', file, '--data-dir', restored, ...withKeys), { code: 1, out: '', err })
    t.strictSame(readdirSync(restored), [], `nothing comes of ${file}`)
  }
  t.match(await run('restore', archive, '--data-dir', restored), { code: 1, err: /sealed: give --key-file/ })
  t.match(await run('restore', archive, '--data-dir', dataDir, '--key-file', keyFile), { code: 1, err: /is not empty/ })
  t.match(await run('restore', archive), { code: 1, err: /--data-dir is required/ })
})

t.test('a folder whose restore was cut short is no data dir, and may be restored again', async t => {
  const dir = temporaryDir(t)
  const { dataDir, server } = await startTestServer(t)
  await server.close()
  const archive = join(dir, 'whole.orrery')
  t.equal((await run('backup', archive, '--data-dir', dataDir)).code, 0)
  const restored = join(dir, 'restored')
  mkdirSync(join(restored, 'store.restoring', 'store'), { recursive: true })
  mkdirSync(join(restored, 'pki'))
  mkdirSync(join(restored, 'lost+found'))
  const started = new Command(t, ['start', '--data-dir', restored, '--secure-port', '0'])
  for (const name of ['admin.kubeconfig', 'pki/ca.key']) {
    writeFileSync(join(restored, name), 'not of a restore')
    t.match(await run('restore', archive, '--data-dir', restored, '--without-keys'), {
      code: 1,
      err: new RegExp(`is not empty \\(${name}\\): nothing is overwritten`),
    })
    t.equal(readFileSync(join(restored, name), 'utf8'), 'not of a restore')
    rmSync(join(restored, name))
  }
  await started.said('was cut short: run "orrery restore" into it again')
  t.equal(await started.exited(), 1)
  t.equal((await run('restore', archive, '--data-dir', restored, '--without-keys')).code, 0)
  t.match(readdirSync(restored).sort(), ['lost+found', 'pki', 'store', 'store.acknowledged'])
  t.match(await run('store', 'verify', '--data-dir', restored), { code: 0, out: /^intact/ })
})

t.test('a restore is settled when all clusters have reported since, whatever the archive says of them', async t => {
  const dir = temporaryDir(t)
  const [before, after, archive] = [join(dir, 'a'), join(dir, 'b'), join(dir, 'c.orrery')]
  const server = await start(t, before)
  const inventory = server.api.in('root:imw1')
  const targets = '/apis/edge.kubestellar.io/v2alpha1/synctargets'
  const target = {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'SyncTarget',
    metadata: { name: 'florin' },
    spec: {},
  }
  await inventory.ok(inventory.post(targets, target))
  const drained = {
    ...target,
    metadata: { name: 'guilder' },
    spec: { unschedulable: true, evictAfter: '2026-01-01T00:00:00Z' },
  }
  await inventory.ok(inventory.post(targets, drained))
  const status = { outcome: { reporting: true, lag: { objects: 0 }, failures: { count: 0, reasons: {} } } }
  await inventory.ok(inventory.patch(`${targets}/florin/status`, 'merge', { status }))
  await server.end()
  t.equal((await run('backup', archive, '--data-dir', before)).code, 0)
  t.match(await run('restore', archive, '--data-dir', after, '--without-keys'), {
    code: 0,
    out: /^SyncTarget guilder \(\w+\) is not evicted any more: drain it again/m,
  })
  t.match(await run('store', 'verify', '--data-dir', after), { code: 0, out: /^intact/ })
  const { api: again, kubeconfig } = await start(t, after)
  const { spec, metadata } = (await again.in('root:imw1').get(`${targets}/guilder`)).body
  t.match(spec, { unschedulable: true, evictAfter: undefined }, 'an eviction of the time of the archive counts no more')
  t.ok(Number(metadata.resourceVersion) > 10_000_000)
  const unsettled = { code: 1, out: /florin .*: unknown, its syncer has not reported since the restore/ }
  t.match(await run('restore', 'status', '--kubeconfig', kubeconfig), unsettled)
  t.match(await run('restore', 'settle', '--kubeconfig', kubeconfig), {
    code: 1,
    err: /2 clusters hold objects or have not reported: .*--anyway/,
  })
  t.match(await run('restore', 'status', '--kubeconfig', kubeconfig), unsettled)
  t.match(await run('restore', 'settle', '--anyway', '--kubeconfig', kubeconfig), { code: 0, out: /^settled/ })
  t.match(await run('restore', 'status', '--kubeconfig', kubeconfig), { code: 0, out: /no restore is unsettled/ })
})

t.test('a backup is for whoever administers the server, and for the role of root that says so', async t => {
  const { api } = await startTestServer(t)
  const alice = api.as(ALICE)
  const take = (who: Api, path = '/backup', body?: unknown) =>
    who.send('POST', path, body === undefined ? {} : { body })
  t.match(await take(alice), { code: 403, body: { reason: 'Forbidden' } })
  t.match(await take(api, '/clusters/root:wmw1/backup'), { code: 404, body: { message: /the server has one, at/ } })
  t.match(await take(api, '/backup', { seal: { key: 'short' } }), {
    code: 400,
    body: { message: /seal: must have a key of 32 bytes/ },
  })
  t.match(await api.get('/backup'), { code: 405 })
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'backup' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:orrery:backup' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
  }
  t.equal((await api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding)).code, 201)
  t.match(await take(alice), { code: 200, text: /^ORRERY ARCHIVE 1\n/ })
  t.match(await alice.get('/api/v1/secrets'), { code: 403 }, 'and for nothing else')
})

t.test('a signal ends a backup, which leaves nothing, and one that goes on for ever in order', async t => {
  const dir = temporaryDir(t)
  const [dataDir, archives] = [join(dir, 'a'), join(dir, 'archives')]
  mkdirSync(archives)
  const { api, kubeconfig } = await start(t, dataDir)
  for (let i = 0; i < 20; i++) await api.ok(api.post(MAPS, map(`bulk-${i}`, randomBytes(200_000).toString('hex'))))
  const args = ['backup', archives, '--kubeconfig', kubeconfig]
  const once = new Command(t, args)
  await once.said('objects as of revision')
  t.equal(await once.end(), 1)
  t.match(once.lines.join('\n'), /ended by a signal, and no archive was written/)
  t.strictSame(readdirSync(archives), [])
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/backup.md'), 'utf8')
  const [typed = '', ...more] = typedIn(sectionOf(page, '## Regularly'))
  t.same(more, [])
  const key = join(dir, 'backup.key')
  writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 })
  const here: Readonly<Record<string, string>> = {
    '/backup': archives,
    '/etc/orrery/backup.kubeconfig': kubeconfig,
    '/etc/orrery/backup.key': key,
  }
  const [program, ...words] = typed.trim().split(' ')
  t.equal(program, 'orrery')
  const always = new Command(
    t,
    words.map(word => here[word] ?? word),
  )
  await always.said('wrote ')
  t.equal(await always.end(), 0)
  t.match(readdirSync(archives), [/^orrery-.*\.orrery$/])
  mkdirSync(join(archives, 'orrery-20200101T000000Z.orrery'))
  const hindered = new Command(t, [...args, '--every', '6h', '--keep', '1'])
  await hindered.said('older archives cannot be removed')
  t.equal(await hindered.end(), 0, 'it goes on at its pace')
  t.match(await run('backup', archives, '--every', '6h', '--data-dir', join(dir, 'none')), {
    code: 1,
    err: /no data dir/,
  })
})

t.test('a backup ends with its client, and is taken one at a time', async t => {
  const { api, server } = await startTestServer(t)
  for (let i = 0; i < 50; i++) await api.ok(api.post(MAPS, map(`bulk-${i}`, randomBytes(200_000).toString('hex'))))
  const taken = await new Promise<IncomingMessage>(resolve => {
    const { ca, cert, key } = accessOf(server.kubeconfigPath)
    request(`${server.url}/backup`, { method: 'POST', ca, cert, key, agent: false }, resolve).end()
  })
  t.match(await api.send('POST', '/backup'), {
    code: 409,
    body: { reason: 'Conflict', message: /^orrery-admin takes a backup since .*: one is taken at a time/ },
  })
  taken.destroy()
  for (let code = 409; code !== 200; ) ({ code } = await api.send('POST', '/backup'))
  t.pass('the next one is taken')
})

const disk = temporaryDir(t)
function noMount(): string | false {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return 'who runs this may not mount a disk'
  }
  t.teardown(() => void execFileSync('umount', ['-l', disk]))
  return false
}

t.test(
  'a full disk ends a backup with the remedy, and takes nothing of older archives',
  { skip: noMount() },
  async t => {
    const [dataDir, archives] = [join(temporaryDir(t), 'a'), disk]
    const server = await start(t, dataDir)
    for (const name of ['a', 'b']) await server.api.post(MAPS, map(name, randomBytes(20_000).toString('hex')))
    await server.end()
    const backup = () => run('backup', archives, '--data-dir', dataDir, '--keep', '1')
    t.equal((await backup()).code, 0)
    const [first] = readdirSync(archives)
    const older = join(archives, 'orrery-20220101T000000Z.orrery')
    renameSync(join(archives, first!), older)
    const whole = readFileSync(older)
    const { bavail, bsize } = statfsSync(archives)
    writeFileSync(join(archives, 'others'), Buffer.alloc((bavail - 2) * bsize))
    t.match(await backup(), { code: 1, out: '', err: /orrery-.* cannot be written: ENOSPC.*make room on its disk/ })
    t.strictSame(readdirSync(archives).sort(), ['orrery-20220101T000000Z.orrery', 'others'])
    t.ok(readFileSync(older).equals(whole))
    t.match(await run('backup', 'verify', older), { code: 0, out: /^whole: / })

    t.comment('an export, too')
    const again = await start(t, dataDir)
    const file = join(archives, 'root.yaml')
    t.match(await pluginHere('ws', 'export', 'root', '--file', file, '--kubeconfig', again.kubeconfig), {
      code: 1,
      out: '',
      err: /root\.yaml cannot be written: ENOSPC.*make room on its disk/,
    })
    t.strictSame(readdirSync(archives).sort(), ['orrery-20220101T000000Z.orrery', 'others'])
  },
)
