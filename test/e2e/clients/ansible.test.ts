/** Ansible's k8s_scale in a space. Its patches of `/scale` say the kind of what they scale. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../../support/orrery.ts'
import { temporaryDir } from '../../support/server.ts'
import { findInterpreter, startSpace } from './session.ts'

const PROBE = 'import kubernetes.dynamic, ansible_collections.kubernetes.core.plugins.modules.k8s_scale'
const python = await findInterpreter(['/usr/bin/python3', 'python3'], ['-c', PROBE])
const skip = python ? false : 'Ansible with kubernetes.core is not installed (Debian: ansible, python3-kubernetes)'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } }
const metadata = { name: 'web', namespace: 'default' }

interface Play {
  tasks: { hosts: { localhost: { changed: boolean; result: { kind: string; spec: { replicas: number } } } } }[]
}

t.test('what it scales is scaled, and it knows when nothing is to do', { skip }, async t => {
  const { kubeconfig, api } = await startSpace(t, 'ansible')
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }
  await api.ok(api.post('/apis/apps/v1/namespaces/default/deployments', deployment))
  const controller = { apiVersion: 'v1', kind: 'ReplicationController', metadata, spec: { replicas: 1, template } }
  await api.ok(api.post('/api/v1/namespaces/default/replicationcontrollers', controller))

  const scale = ({ apiVersion, kind }: { apiVersion: string; kind: string }): object => ({
    'kubernetes.core.k8s_scale': { kubeconfig, api_version: apiVersion, kind, ...metadata, replicas: 3, wait: false },
  })
  const dir = temporaryDir(t)
  const playbook = join(dir, 'play.json')
  const vars = { ansible_python_interpreter: python, ansible_connection: 'local' }
  const tasks = [scale(deployment), scale(deployment), scale(controller)]
  writeFileSync(playbook, JSON.stringify([{ hosts: 'localhost', gather_facts: false, vars, tasks }]))
  const env = { HOME: dir, ANSIBLE_HOME: dir, ANSIBLE_STDOUT_CALLBACK: 'json' }
  const { code, out, err } = await run(python!, ['-m', 'ansible', 'playbook', playbook], { env })
  if (code !== 0) throw new Error(`ansible ended with ${code}: ${err}${out}`)

  const [play] = (JSON.parse(out) as { plays: Play[] }).plays
  const seen = play!.tasks.map(({ hosts: { localhost } }) => {
    const { changed, result } = localhost
    return `${result.kind} x${result.spec.replicas}${changed ? '' : ' already'}`
  })
  t.strictSame(seen, ['Deployment x3', 'Deployment x3 already', 'ReplicationController x3'])
})
