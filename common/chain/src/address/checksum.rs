//! The checksum of the addresses of Stellar and TON.

/// CRC-16/XMODEM: polynomial 0x1021, first value 0, bits in their order (ITU-T V.41).
pub(super) fn crc16_xmodem(bytes: &[u8]) -> u16 {
    crc::Crc::<u16>::new(&crc::CRC_16_XMODEM).checksum(bytes)
}
