/** Answers that speak of upstream's Go types: bodies of another kind than the URL's. */
import { post, put, type Script } from '../script.ts'
import { CM, configMap, DEPLOYMENTS, deployment, of, PODS, pod } from './bodies.ts'

const SCALE = `${DEPLOYMENTS}/d/scale`

export const goWords: Script = {
  name: 'go-words',
  steps: [
    post(DEPLOYMENTS, deployment('d')),
    put(SCALE, deployment('d')),
    put(SCALE, configMap('d')),
    put(SCALE, of('example.com/v1', 'Nothing', 'd')),
    put(SCALE, of('autoscaling/v1', 'HorizontalPodAutoscaler', 'd')),
    put(SCALE, of('apps/v1beta1', 'Scale', 'd', { spec: { replicas: 1 } })),
    post(PODS, configMap('x')),
    post(PODS, deployment('x')),
    post(PODS, of('example.com/v1', 'Nothing', 'x')),
    post(PODS, of('v1', 'Nothing', 'x')),
    post(PODS, of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'x')),
    post(DEPLOYMENTS, pod('x')),
    put(`${DEPLOYMENTS}/d`, pod('d')),
    put(`${CM}/d`, of('v1', 'Secret', 'd')),
    post('/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles', pod('x')),
    post('/apis/storage.k8s.io/v1/storageclasses', pod('x')),
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', pod('x')),
  ],
}
