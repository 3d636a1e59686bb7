/** Certificates, tokens and rights as an administrator of a space sees to them with kubectl. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Api } from '../support/api.ts'
import { findKubectls, KubectlSession, minorOf, run, startOrreryHere } from '../support/orrery.ts'
import { PATIENCE } from '../support/patience.ts'
import { accessOf, createSpace, temporaryDir } from '../support/server.ts'

const kubectl = (await findKubectls()).at(-1)
// `auth whoami` and bound tokens came with 1.28.
const skip = kubectl === undefined || minorOf(kubectl) < 28 ? 'no kubectl of 1.28 or later' : false

t.test('kubectl certificate approve, create token, auth can-i, get apiservices', { skip }, async t => {
  const orrery = await startOrreryHere(t)
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  await createSpace(api, 'one')
  await createSpace(api, 'two')
  const home = temporaryDir(t)
  const urlOf = (space: string): string => `--server=${orrery.url}/clusters/root:${space}`
  const admin = new KubectlSession(kubectl!, home, ['--kubeconfig', orrery.kubeconfig, urlOf('one')])
  const [key, request, certificate, ca] = ['k.pem', 'r.pem', 'c.pem', 'ca.pem'].map(name => join(home, name))
  writeFileSync(ca!, api.access.ca!)
  const made = await run('openssl', [
    'req',
    '-new',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key!,
    '-subj',
    '/O=devs/CN=carol',
  ])
  writeFileSync(request!, made.out)
  const csr = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'carol' },
    spec: {
      request: Buffer.from(made.out).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      expirationSeconds: 86_400,
      usages: ['client auth'],
    },
  }
  await admin.ok('apply -f -', { input: JSON.stringify(csr) })
  t.match(await admin.ok('get csr'), /carol +\S+ +kubernetes.io\/kube-apiserver-client +orrery-admin +24h +Pending/)
  await admin.ok('certificate approve carol')
  await admin.ok(`wait csr/carol --for=jsonpath={.status.certificate} --timeout=${PATIENCE}`)
  t.match(await admin.ok('get csr'), /Approved,Issued/)
  const issued = await admin.ok('get csr carol -o jsonpath={.status.certificate}')
  writeFileSync(certificate!, Buffer.from(issued, 'base64'))

  const credentials = [`--client-certificate=${certificate}`, `--client-key=${key}`, `--certificate-authority=${ca}`]
  const carol = (space: string): KubectlSession => new KubectlSession(kubectl!, home, [...credentials, urlOf(space)])
  await admin.ok('create clusterrolebinding devs --clusterrole=cluster-admin --group=devs')
  t.match(await carol('one').ok('auth whoami'), /Username +carol\n/)
  t.match(await carol('one').ok('auth can-i --list'), /\*\.\* +\[\] +\[\] +\[\*\]/)
  const elsewhere = await carol('two').run('get namespaces')
  t.not(elsewhere.code, 0)
  t.match(elsewhere.err, /Forbidden|forbidden/)

  await admin.ok('create serviceaccount robot')
  await admin.ok('create secret generic tie')
  const bound = 'create token robot --bound-object-kind=Secret --bound-object-name=tie --duration=20m'
  const token = (await admin.ok(bound)).trim()
  const robot = new KubectlSession(kubectl!, home, [`--token=${token}`, `--certificate-authority=${ca}`, urlOf('one')])
  t.match(await robot.ok('auth whoami'), /system:serviceaccount:default:robot/)
  await admin.ok('delete secret tie')
  t.not((await robot.run('auth whoami')).code, 0, 'the token went with the Secret')
  t.match(await admin.ok('get apiservices'), /v1\.apps +Local +True/)
})
