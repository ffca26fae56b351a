//! Which addresses a fetch may reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Whether an address is of this machine, of a private network, or of no host at all. An IPv6 address that stands for an
/// IPv4 one is as private as that.
pub(super) fn is_private(address: IpAddr) -> bool {
    let by_range = match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    };
    by_range || is_ours(address)
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        // Reserved, and the broadcast address.
        || a >= 240
        // Shared by the customers of a provider.
        || (a == 100 && (64..128).contains(&b))
        // Protocol assignments, and the relay of 6to4.
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        // Benchmarks.
        || (a == 198 && (18..20).contains(&b))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        // Unspecified, loopback, IPv4-compatible.
        [0, 0, 0, 0, 0, 0, high, low] => high == 0 || is_private_v4(v4(high, low)),
        // IPv4-mapped, IPv4-translated, NAT64.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_private_v4(v4(high, low)),
        // NAT64 of a local network.
        [0x64, 0xff9b, 1, ..] => true,
        // 6to4.
        [0x2002, high, low, ..] => is_private_v4(v4(high, low)),
        // Teredo and other protocol assignments, documentation, discard, segment routing.
        [0x2001, assigned, ..] if assigned < 0x200 || assigned == 0xdb8 => true,
        [0x3fff, ..] | [0x100, 0, 0, 0, ..] | [0x5f00, ..] => true,
        // Unique local, link local, site local, multicast.
        [first, ..] => {
            (first & 0xfe00) == 0xfc00
                || (first & 0xffc0) == 0xfe80
                || (first & 0xffc0) == 0xfec0
                || (first & 0xff00) == 0xff00
        }
    }
}

/// Whether a public address is one of this machine's own: only those can be bound.
fn is_ours(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_disguise() {
        for private in [
            "127.0.0.1",
            "127.8.9.1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.1",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private} counts as public");
        }
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "192.1.1.1",
            "2606:4700::1111",
            "64:ff9b::808:808",
        ] {
            assert!(!is_private(public.parse().unwrap()), "{public} counts as private");
        }
    }
}
