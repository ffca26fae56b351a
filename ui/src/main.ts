import { mount } from 'svelte';
import App from './App.svelte';
import './tokens.css';
import './base.css';
import { use } from './transport';

async function begin(): Promise<void> {
  if (__FAKE__ && new URLSearchParams(location.search).has('fake')) {
    const { fake } = await import('./transport/fake');
    use(fake(new URLSearchParams(location.search).get('fake') ?? ''));
  }
  const target = document.getElementById('app');
  if (target !== null) mount(App, { target });
}

void begin();
