/** The reader of kubeconfigs in `@kubernetes/client-node`: imported by name, so that a bundle leaves the rest out (15 MB). */
export { KubeConfig } from '@kubernetes/client-node'
