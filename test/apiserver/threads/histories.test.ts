/**
 * Histories over connections to all threads. Objects, rights, definitions and spaces come and go while everybody reads and watches. Each
 * answer is held to a model of one thread. `HISTORIES=100` plays so many; `SEED` begins with another one.
 */
import t from 'tap'
import { brokenAnswers } from '../../support/answerHistory.ts'
import { Api } from '../../support/api.ts'
import { Seeded } from '../../support/seeded.ts'
import { ALICE, createSpace, startTestServer } from '../../support/server.ts'
import { brokenPromises } from '../../support/watchHistory.ts'
import { logOf } from '../../support/watchRecords.ts'
import { Players } from './players.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 1)
const SEED = Number(process.env.SEED ?? 1)
const STEPS = 48
/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const MEMBER = {
  metadata: { name: 'member' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kcp:workspace:access' },
  subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
}

const { api, server, faults } = await startTestServer(t, { more: { apiThreads: 2, bookmarkIntervalMs: 5 } })

for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
  t.test(`nobody is told what is not so, whichever thread answers (seed ${seed})`, async t => {
    const name = `s${seed}`
    const space = await createSpace(api, name)
    const path = `root:${name}`
    await api.ok(api.in(space).post(BINDINGS, MEMBER))
    const admins = Array.from({ length: CONNECTIONS }, () => new Api(api.access).in(path))
    const alices = Array.from({ length: CONNECTIONS }, () => api.in(path).as(ALICE))
    const players = new Players({ store: server.store, random: new Seeded(seed), space, path, admins, alices })
    await players.play(STEPS)
    for (const client of [...admins, ...alices]) client.close()
    const log = await logOf(server.store, { space })
    const { answers, acknowledged, snapshots, streams } = players
    t.strictSame(brokenAnswers(log, answers), [])
    t.strictSame(brokenPromises({ log, acknowledged, snapshots, streams }), [])
    t.ok(answers.length > STEPS * 8 && streams.length > 3, 'much was asked')
  })
}

t.test('nothing of it was a fault of the server', async t => t.same(faults, []))
