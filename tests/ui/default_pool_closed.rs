// A program cannot destroy the default pool of a device.
use cuprum::Device;
use cuprum::pool::PoolPlace;

fn wrong(device: Device) {
    device.driver().default_pool(PoolPlace::Device(device)).unwrap().close().unwrap();
}

fn main() {}
